// SPDX-License-Identifier: Apache-2.0
// Converts tensors between files through the library, for scripts/compare_numpy.py.
//   netcl_tensor_convert IN OUT [IN OUT]...     tensor arguments, see core/tensor_file.h
// Exit code 0, or that of the first error with its message on standard error.
#include <exception>
#include <iostream>

#include "base/error.h"
#include "core/tensor_file.h"

int main(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) {
    std::cerr << "usage: netcl_tensor_convert IN OUT [IN OUT]...\n";
    return 2;
  }
  try {
    for (int i = 1; i < argc; i += 2) {
      netcl::core::save_tensor(argv[i + 1], netcl::core::load_tensor(argv[i]));
    }
  } catch (const netcl::base::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 70;
  }
  return 0;
}
