// SPDX-License-Identifier: Apache-2.0
#include "text/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace netcl::text {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xFF;

constexpr std::array<uint8_t, 256> make_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<uint8_t>(kDigits[i])] = static_cast<uint8_t>(i);
  }
  return values;
}

constexpr std::array<uint8_t, 256> kValues = make_values();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      group = (group << 8) | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[(group >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return text;
}

bool append_base64(std::string_view text, std::string& bytes) {
  if (text.size() % 4 != 0) {
    return false;
  }
  for (size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const size_t padding = !last || text[at + 3] != '=' ? 0 : text[at + 2] != '=' ? 1 : 2;
    uint32_t group = 0;
    for (size_t i = 0; i < 4; ++i) {
      const uint8_t value = i < 4 - padding ? kValues[static_cast<uint8_t>(text[at + i])] : 0;
      if (value == kNoDigit) {
        return false;
      }
      group = (group << 6) | value;
    }
    if ((padding == 1 && (group & 0xFF) != 0) || (padding == 2 && (group & 0xFFFF) != 0)) {
      return false;
    }
    const char three[] = {static_cast<char>(group >> 16), static_cast<char>(group >> 8),
                          static_cast<char>(group)};
    bytes.append(three, 3 - padding);
  }
  return true;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  return append_base64(text, bytes) ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace netcl::text
