// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file or a FormatError, and the tensors of a file cover its data exactly.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "core/safetensors_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  try {
    const auto file =
        core::SafetensorsFile::over({reinterpret_cast<const char*>(data), size}, "input");
    uint64_t covered = 0;
    for (const core::SafetensorsInfo& info : file.tensors()) {
      NETCL_CHECK(file.contains(info.name) && info.begin <= info.end);
      covered += info.end - info.begin;
      try {
        NETCL_CHECK(file.load(info.name).byte_count() == info.end - info.begin);
      } catch (const base::FormatError&) {  // a dtype or rank without tensors, a damaged bool
      }
    }
    NETCL_CHECK(covered <= size);
  } catch (const base::FormatError&) {
  }
  return 0;
}
