// SPDX-License-Identifier: Apache-2.0
#include "core/element_bytes.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace netcl::core {

void swap_byte_order(HostTensor& tensor) {
  const size_t size = dtype_size(tensor.dtype());
  std::byte* const end = tensor.data() + tensor.byte_count();
  for (std::byte* element = tensor.data(); element != end; element += size) {
    std::reverse(element, element + size);
  }
}

void check_bools(const HostTensor& tensor, std::string_view where, size_t first_byte) {
  if (tensor.dtype() != DType::kBool) {
    return;
  }
  const auto values = tensor.as<uint8_t>();
  const auto wrong = std::find_if(values.begin(), values.end(), [](uint8_t x) { return x > 1; });
  if (wrong != values.end()) {
    const auto index = static_cast<size_t>(wrong - values.begin());
    throw base::FormatError(base::at_byte(where, first_byte + index) + ": bool element " +
                            std::to_string(index) + " is " + std::to_string(*wrong) +
                            "; allowed are 0 and 1");
  }
}

}  // namespace netcl::core
