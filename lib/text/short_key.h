// SPDX-License-Identifier: Apache-2.0
// Keys of the tables that hold most pieces of a text: up to 15 bytes in two words.
#ifndef NETCL_TEXT_SHORT_KEY_H_
#define NETCL_TEXT_SHORT_KEY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/byte_hash.h"

namespace netcl::text {

// A piece of 1 to 15 bytes as two words.
struct ShortKey {
  uint64_t low = 0;
  uint64_t high = 0;  // bytes 8 to 14, then the length

  static constexpr size_t kLongest = 15;

  // `room`: how many bytes from piece.data() on may be read, at least piece.size().
  static ShortKey of(std::string_view piece, size_t room) {
    if (room >= 16) {
      return of_readable(piece.data(), piece.size());
    }
    char bytes[16] = {};
    std::memcpy(bytes, piece.data(), piece.size());
    return of_readable(bytes, piece.size());
  }
  // The first `size` bytes of 16 that may be read.
  static ShortKey of_readable(const char* bytes, size_t size) {
    const ShortWords words = ShortWords::of_readable(bytes, size);
    return {words.low, words.high | uint64_t{size} << 56};
  }

  uint64_t hash() const { return mix(low ^ kHashFirst, high ^ kHashSecond); }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SHORT_KEY_H_
