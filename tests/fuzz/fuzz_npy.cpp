// SPDX-License-Identifier: Apache-2.0
// Any bytes are an array or a FormatError, and an array survives writing and reading.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/npy_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  try {
    const core::HostTensor tensor =
        core::parse_npy({reinterpret_cast<const char*>(data), size}, "input.npy");
    const std::string bytes = core::npy_bytes(tensor, "input.npy");
    const core::HostTensor again = core::parse_npy(bytes, "again.npy");
    NETCL_CHECK(again.dtype() == tensor.dtype() && again.shape() == tensor.shape());
    NETCL_CHECK(core::npy_bytes(again, "again.npy") == bytes);
  } catch (const base::FormatError&) {
  }
  return 0;
}
