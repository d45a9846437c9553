// SPDX-License-Identifier: Apache-2.0
// Any text is a tensor or a FormatError, and a tensor's text reads back to the same text.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "core/json_tensor_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  try {
    const core::HostTensor tensor =
        core::parse_json_tensor({reinterpret_cast<const char*>(data), size}, "input.json");
    const std::string text = core::json_tensor_text(tensor);
    NETCL_CHECK(core::json_tensor_text(core::parse_json_tensor(text, "again.json")) == text);
  } catch (const base::FormatError&) {
  }
  return 0;
}
