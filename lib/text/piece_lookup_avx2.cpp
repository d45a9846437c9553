// SPDX-License-Identifier: Apache-2.0
#include "text/piece_lookup.h"

#if defined(__x86_64__)

#include <array>
#include <cstring>

#include <immintrin.h>

namespace netcl::text {

namespace {

#define NETCL_LOOKUP_TARGET __attribute__((target("avx2,aes,bmi,bmi2,popcnt")))

// For every size of a key: its bytes, and the size in the last byte.
struct KeyForm {
  alignas(16) std::array<uint8_t, 16> mask;
  alignas(16) std::array<uint8_t, 16> size;
};
constexpr std::array<KeyForm, ShortKey::kLongest + 1> kKeyForms = [] {
  std::array<KeyForm, ShortKey::kLongest + 1> forms{};
  for (size_t size = 0; size < forms.size(); ++size) {
    for (size_t i = 0; i < size; ++i) {
      forms[size].mask[i] = 0xFF;
    }
    forms[size].size[15] = static_cast<uint8_t>(size);
  }
  return forms;
}();

struct Key {
  __m128i bytes;

  NETCL_LOOKUP_TARGET static __m128i load_16(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  NETCL_LOOKUP_TARGET static Key of_readable(const char* from, size_t size) {
    const KeyForm& form = kKeyForms[size];
    const __m128i cut = _mm_and_si128(load_16(from), load_16(form.mask.data()));
    return {_mm_or_si128(cut, load_16(form.size.data()))};
  }
  NETCL_LOOKUP_TARGET static Key of(const ShortKey& key) { return load(key); }
  NETCL_LOOKUP_TARGET static Key load(const ShortKey& key) { return {load_16(&key)}; }
  NETCL_LOOKUP_TARGET void store(ShortKey& key) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&key), bytes);
  }
  // Two rounds bring every byte of the key into every byte of the result.
  NETCL_LOOKUP_TARGET uint64_t hash() const {
    const __m128i round_key =
        _mm_set_epi64x(static_cast<int64_t>(kHashFirst), static_cast<int64_t>(kHashSecond));
    const __m128i once = _mm_aesenc_si128(bytes, round_key);
    return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_aesenc_si128(once, round_key)));
  }
  // PieceCache::Line::find().
  NETCL_LOOKUP_TARGET size_t find_in(const PieceCache::Line& line, uint32_t* out) const {
    const PieceCache::Entry* const entries = line.entries;
    const __m128i first_differs = _mm_xor_si128(bytes, load_16(&entries[0].key));
    const __m128i second_differs = _mm_xor_si128(bytes, load_16(&entries[1].key));
    const auto second = static_cast<uint32_t>(_mm_testz_si128(second_differs, second_differs));
    const auto first = static_cast<uint32_t>(_mm_testz_si128(first_differs, first_differs));
    const __m128i ids = load_16(entries[second].ids);
    const auto count = static_cast<uint32_t>(_mm_cvtsi128_si32(ids)) >> PieceCache::kIdBits;
    const __m128i id_bits = _mm_set_epi32(-1, -1, -1, (1 << PieceCache::kIdBits) - 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_and_si128(ids, id_bits));
    return count & (uint32_t{0} - (first | second));
  }
};

#include "text/piece_lookup.inc"

NETCL_LOOKUP_TARGET uint64_t aes_hash(const ShortKey& key) {
  return Key::load(key).hash();
}

}  // namespace

const PieceLookup kPieceLookupAvx2 = {aes_hash, look_up};

}  // namespace netcl::text

#endif
