// SPDX-License-Identifier: Apache-2.0
#include "text/token_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace netcl::text {

namespace {

// Ids by which the number of bytes is estimated.
constexpr size_t kSample = size_t{1} << 14;

// Room for so many bytes more and a quarter of that: memory that is not used is never touched, and
// growing copies all of it. In huge pages, since touching fresh memory takes longer than decoding.
void reserve_expected(double bytes, std::string& out) {
  try {
    out.reserve(out.size() + static_cast<size_t>(1.25 * bytes));
  } catch (const std::bad_alloc&) {
    return;  // the rest may be shorter than it looks; if not, growing will throw
  }
  base::advise_huge_pages(out.data() + out.size(), out.capacity() - out.size());
}

}  // namespace

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
  if (ids.size() < 2 * kSample) {
    return append_some(ids, out);
  }
  const size_t before = out.size();
  const size_t done = append_some(ids.first(kSample), out);
  if (done < kSample) {
    return done;
  }
  const double bytes_an_id = static_cast<double>(out.size() - before) / kSample;
  reserve_expected(bytes_an_id * static_cast<double>(ids.size() - kSample), out);
  return done + append_some(ids.subspan(kSample), out);
}

size_t TokenTable::append_some(std::span<const uint32_t> ids, std::string& out) const {
  // Fills a buffer that stays in the nearest cache; a slot may write past what counts of it.
  std::array<char, 8192 + kSlotBytes> buffer;
  const size_t room = buffer.size() - kSlotBytes;
  size_t filled = 0;
  const std::span<const Slot> slots = slots_;  // what is written to the buffer cannot change it
  size_t i = 0;
  for (; i < ids.size(); ++i) {
    const uint32_t id = ids[i];
    if (id >= slots.size()) {
      break;
    }
    const Slot& slot = slots[id];
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
