// SPDX-License-Identifier: Apache-2.0
// The printable form of bytes that byte-level tokenizer files use (GPT-2): a byte that is a visible
// Latin-1 character (0x21-0x7E, 0xA1-0xAC, 0xAE-0xFF) stands for itself, the other 68 become
// U+0100, U+0101, ... in ascending order, so that a space is U+0120 and a newline U+010A.
#ifndef NETCL_TEXT_BYTE_LEVEL_H_
#define NETCL_TEXT_BYTE_LEVEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace netcl::text {

// Code point that stands for a byte.
uint32_t byte_to_code_point(uint8_t byte);

// The 256 bytes in the order of their code points: 0x21 first, 0x00 at 188, 0x20 at 220.
const std::array<uint8_t, 256>& bytes_in_printable_order();

// Printable form of bytes, UTF-8.
std::string to_printable(std::string_view bytes);

// Bytes that a printable form stands for; nothing when a character stands for no byte or the text
// is not valid UTF-8.
std::optional<std::string> from_printable(std::string_view printable);
// The same written to `out`: their end, or null. There must be room for kPrintableRoom bytes more
// than `printable` has.
inline constexpr size_t kPrintableRoom = 8;
char* from_printable(std::string_view printable, char* out);

}  // namespace netcl::text

#endif  // NETCL_TEXT_BYTE_LEVEL_H_
