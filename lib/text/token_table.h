// SPDX-License-Identifier: Apache-2.0
// Bytes of tokens by id, laid out for decoding: a token of up to 15 bytes is a 16-byte slot that is
// copied whole, so that most tokens cost one load and one store.
#ifndef NETCL_TEXT_TOKEN_TABLE_H_
#define NETCL_TEXT_TOKEN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/big_buffer.h"

namespace netcl::text {

// Immutable; safe to read from several threads. The bytes must outlive it.
class TokenTable {
 public:
  TokenTable() = default;
  // By id; an empty string is an id without a token.
  explicit TokenTable(base::BigVector<std::string_view> bytes_by_id);

  // Largest id plus one.
  uint32_t id_limit() const { return static_cast<uint32_t>(bytes_.size()); }
  // Bytes of the token; empty when there is none.
  std::string_view bytes(uint32_t id) const {
    return id < bytes_.size() ? bytes_[id] : std::string_view();
  }

  // Appends the bytes of the tokens to `out`, up to the first id that has none; returns how many
  // ids were taken. O(bytes appended).
  size_t append(std::span<const uint32_t> ids, std::string& out) const;

 private:
  static constexpr size_t kSlotBytes = 16;
  static constexpr uint8_t kLong = 0xFF;  // in place of the length: see bytes_

  struct Slot {
    char bytes[kSlotBytes - 1];
    uint8_t size;  // 0: no token
  };

  size_t append_some(std::span<const uint32_t> ids, std::string& out) const;

  base::BigVector<std::string_view> bytes_;
  base::BigVector<Slot> slots_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKEN_TABLE_H_
