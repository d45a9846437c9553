// SPDX-License-Identifier: Apache-2.0
#include "text/byte_level.h"

#include <algorithm>
#include <cstring>

#include "text/byte_hash.h"

namespace netcl::text {

namespace {

constexpr bool is_printable(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr uint32_t kFirstSubstitute = 0x100;
constexpr uint32_t kSubstitutes = 68;

struct Tables {
  std::array<uint32_t, 256> code_points{};
  std::array<uint8_t, kFirstSubstitute + kSubstitutes> bytes{};
  std::array<bool, kFirstSubstitute + kSubstitutes> used{};
  std::array<uint8_t, 256> order{};
};

constexpr Tables make_tables() {
  Tables tables;
  uint32_t next = kFirstSubstitute;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t code_point = is_printable(byte) ? byte : next++;
    tables.code_points[byte] = code_point;
    tables.bytes[code_point] = static_cast<uint8_t>(byte);
    tables.used[code_point] = true;
  }
  size_t place = 0;
  for (size_t code_point = 0; code_point < tables.bytes.size(); ++code_point) {
    if (tables.used[code_point]) {
      tables.order[place++] = tables.bytes[code_point];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

constexpr std::string_view kSpace = "\xC4\xA0";  // U+0120

// Whether all of the first `size` bytes of the word are 0x21 to 0x7E; behind them are zeros.
bool stand_for_themselves(uint64_t word, size_t size) {
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kHighBits = 0x80 * kOnes;
  const uint64_t ascii = word & ~kHighBits;
  const uint64_t at_least_21 = ascii + (0x80 - 0x21) * kOnes;
  const uint64_t above_7e = ascii + (0x80 - 0x7F) * kOnes;
  const uint64_t good = at_least_21 & ~above_7e & ~word & kHighBits;
  return good == kHighBits >> (8 * (sizeof word - size));
}

}  // namespace

uint32_t byte_to_code_point(uint8_t byte) {
  return kTables.code_points[byte];
}

const std::array<uint8_t, 256>& bytes_in_printable_order() {
  return kTables.order;
}

std::string to_printable(std::string_view bytes) {
  std::string printable;
  printable.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const uint32_t code_point = byte_to_code_point(static_cast<uint8_t>(byte));
    if (code_point < 0x80) {
      printable += static_cast<char>(code_point);
    } else {
      printable += static_cast<char>(0xC0 | (code_point >> 6));
      printable += static_cast<char>(0x80 | (code_point & 0x3F));
    }
  }
  return printable;
}

std::optional<std::string> from_printable(std::string_view printable) {
  std::string bytes(printable.size() + kPrintableRoom, '\0');
  const char* end = from_printable(printable, bytes.data());
  if (end == nullptr) {
    return std::nullopt;
  }
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  return bytes;
}

char* from_printable(std::string_view printable, char* out) {
  const char* at = printable.data();
  const char* const end = at + printable.size();
  // Most tokens are a space or none and then up to eight characters that stand for themselves.
  const bool has_space = printable.starts_with(kSpace);
  *out = ' ';
  out += has_space ? 1 : 0;
  at += has_space ? kSpace.size() : 0;
  if (const auto size = static_cast<size_t>(end - at); size - 1 < sizeof(uint64_t)) {
    const uint64_t word = ShortWords::of(at, size).low;
    if (stand_for_themselves(word, size)) {
      std::memcpy(out, &word, sizeof word);
      return out + size;
    }
  }
  while (at != end) {
    const auto first = static_cast<uint8_t>(*at++);
    if (first < 0x80) {
      if (!kTables.used[first]) {
        return nullptr;
      }
      *out++ = static_cast<char>(first);
      continue;
    }
    // Every stand-in below U+0800 is two bytes long; anything else stands for no byte.
    if (first < 0xC2 || first > 0xDF || at == end || (static_cast<uint8_t>(*at) & 0xC0) != 0x80) {
      return nullptr;
    }
    const uint32_t code_point =
        (uint32_t{first} & 0x1F) << 6 | (static_cast<uint8_t>(*at++) & uint32_t{0x3F});
    if (code_point >= kTables.used.size() || !kTables.used[code_point]) {
      return nullptr;
    }
    *out++ = static_cast<char>(kTables.bytes[code_point]);
  }
  return out;
}

}  // namespace netcl::text
