// SPDX-License-Identifier: Apache-2.0
// Whether one of a few strings occurs in a text.
#ifndef NETCL_TEXT_SUBSTRING_SET_H_
#define NETCL_TEXT_SUBSTRING_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace netcl::text {

// Immutable; safe to read from several threads. Refers to the bytes of the strings.
class SubstringSet {
 public:
  static constexpr size_t kShortest = 3;

  // Strings of at least kShortest bytes.
  explicit SubstringSet(const std::vector<std::string_view>& strings);

  bool empty() const { return by_head_.empty(); }
  // Some 1 ns a byte, unless beginnings of the strings are frequent.
  bool occurs_in(std::string_view text) const;

 private:
  static constexpr int kBits = 16;

  static uint32_t head_of(const char* bytes) {
    const auto byte = [&](int i) { return uint32_t{static_cast<uint8_t>(bytes[i])}; };
    return byte(0) | byte(1) << 8 | byte(2) << 16;
  }
  static uint32_t bit_of(uint32_t head) { return (head * 0x9E3779B1U) >> (32 - kBits); }

  std::array<uint64_t, (size_t{1} << kBits) / 64> heads_{};  // by bit_of(): a string may begin so
  std::unordered_map<uint32_t, std::vector<std::string_view>> by_head_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SUBSTRING_SET_H_
