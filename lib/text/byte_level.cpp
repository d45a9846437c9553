// SPDX-License-Identifier: Apache-2.0
#include "text/byte_level.h"

#include <algorithm>

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
  std::string bytes(printable.size(), '\0');
  const char* end = from_printable(printable, bytes.data());
  if (end == nullptr) {
    return std::nullopt;
  }
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  return bytes;
}

char* from_printable(std::string_view printable, char* out) {
  for (size_t at = 0; at < printable.size(); ++at) {
    uint32_t code_point = static_cast<uint8_t>(printable[at]);
    if (code_point >= 0x80) {
      // Every stand-in below U+0800 is two bytes long; anything else stands for no byte.
      if (code_point < 0xC2 || code_point > 0xDF || at + 1 == printable.size() ||
          (static_cast<uint8_t>(printable[at + 1]) & 0xC0) != 0x80) {
        return nullptr;
      }
      ++at;
      code_point = ((code_point & 0x1F) << 6) | (static_cast<uint8_t>(printable[at]) & 0x3F);
    }
    if (code_point >= kTables.used.size() || !kTables.used[code_point]) {
      return nullptr;
    }
    *out++ = static_cast<char>(kTables.bytes[code_point]);
  }
  return out;
}

}  // namespace netcl::text
