// SPDX-License-Identifier: Apache-2.0
#include "text/token_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace netcl::text {

TokenTable::TokenTable(base::BigVector<std::string_view> bytes_by_id)
    : bytes_(std::move(bytes_by_id)), slots_(bytes_.size(), Slot{}) {
  for (size_t id = 0; id < bytes_.size(); ++id) {
    const std::string_view bytes = bytes_[id];
    if (bytes.size() < kSlotBytes) {
      std::copy(bytes.begin(), bytes.end(), slots_[id].bytes);
      slots_[id].size = static_cast<uint8_t>(bytes.size());
    } else {
      slots_[id].size = kLong;
    }
  }
}

size_t TokenTable::append(std::span<const uint32_t> ids, std::string& out) const {
  // Fills a buffer that stays in the nearest cache; a slot may write past what counts of it.
  std::array<char, 8192 + kSlotBytes> buffer;
  const size_t room = buffer.size() - kSlotBytes;
  size_t filled = 0;
  size_t i = 0;
  for (; i < ids.size(); ++i) {
    const uint32_t id = ids[i];
    if (id >= slots_.size()) {
      break;
    }
    const Slot& slot = slots_[id];
    std::memcpy(buffer.data() + filled, &slot, kSlotBytes);
    if (slot.size == 0) {
      break;
    }
    if (slot.size == kLong) {
      out.append(buffer.data(), filled);
      out.append(bytes_[id]);
      filled = 0;
      continue;
    }
    filled += slot.size;
    if (filled > room - kSlotBytes) {
      out.append(buffer.data(), filled);
      filled = 0;
    }
  }
  out.append(buffer.data(), filled);
  return i;
}

}  // namespace netcl::text
