// SPDX-License-Identifier: Apache-2.0
#include "text/normal_form.h"

#include <algorithm>
#include <unordered_set>

#include <utf8proc.h>

#include "base/error.h"
#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr int kLongestDecomposition = 32;  // U+FDFA has 18

void append_decomposition(int32_t c, bool compatibility, std::vector<int32_t>& out) {
  const int options = UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0);
  int32_t buffer[kLongestDecomposition];
  int last_class = UTF8PROC_BOUNDCLASS_START;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      c, buffer, kLongestDecomposition, static_cast<utf8proc_option_t>(options), &last_class);
  NETCL_CHECK(count >= 0 && count <= kLongestDecomposition);
  out.insert(out.end(), buffer, buffer + count);
}

int combining_class(int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

// Sorts each run of characters that are no starters by combining class, equals in place.
void reorder(std::vector<int32_t>& characters) {
  const auto is_starter = [](int32_t c) { return combining_class(c) == 0; };
  auto at = characters.begin();
  while (at != characters.end()) {
    const auto run = std::find_if_not(at, characters.end(), is_starter);
    at = std::find_if(run, characters.end(), is_starter);
    if (at - run > 1) {
      std::stable_sort(
          run, at, [](int32_t a, int32_t b) { return combining_class(a) < combining_class(b); });
    }
  }
}

void compose(std::vector<int32_t>& characters) {
  const utf8proc_ssize_t count =
      utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  NETCL_CHECK(count >= 0);
  characters.resize(static_cast<size_t>(count));
}

// No code point from here on decomposes, composes or has a combining class, but variation selectors
// and tags, which do neither: planes 3 to 16 of Unicode 15 and 16.
constexpr int32_t kFirstPlain = 0x30000;

bool is_surrogate(int32_t c) {
  return c >= 0xD800 && c <= 0xDFFF;
}

// Characters that compose with one before them: the last character of a canonical decomposition,
// among them the vowels and final consonants of Hangul.
std::unordered_set<int32_t> find_seconds() {
  std::unordered_set<int32_t> seconds;
  std::vector<int32_t> parts;
  for (int32_t c = 0; c < kFirstPlain; ++c) {
    if (is_surrogate(c)) {
      continue;
    }
    parts.clear();
    append_decomposition(c, false, parts);
    if (parts.size() > 1) {
      seconds.insert(parts.back());
    }
  }
  return seconds;
}

}  // namespace

const NormalForm& NormalForm::get(bool compose, bool compatibility) {
  static const NormalForm nfc(true, false);
  if (compose && !compatibility) {
    return nfc;
  }
  static const NormalForm nfkc(true, true);
  if (compose) {
    return nfkc;
  }
  static const NormalForm nfd(false, false);
  static const NormalForm nfkd(false, true);
  return compatibility ? nfkd : nfd;
}

NormalForm::NormalForm(bool compose, bool compatibility)
    : compose_(compose),
      compatibility_(compatibility),
      boundary_((kMaxCodePoint >> 6) + 1),
      inert_((kMaxCodePoint >> 6) + 1),
      composes_((kMaxCodePoint >> 6) + 1),
      plain_((kMaxCodePoint >> 6) + 1) {
  const std::unordered_set<int32_t> seconds =
      compose ? find_seconds() : std::unordered_set<int32_t>();
  const auto plain = static_cast<std::ptrdiff_t>(kFirstPlain >> 6);
  std::fill(boundary_.begin() + plain, boundary_.end(), ~uint64_t{0});
  std::fill(inert_.begin() + plain, inert_.end(), ~uint64_t{0});
  std::vector<int32_t> parts;
  for (int32_t c = 0; c < kFirstPlain; ++c) {
    if (is_surrogate(c)) {
      continue;
    }
    parts.clear();
    append_decomposition(c, compatibility, parts);
    const uint64_t bit = uint64_t{1} << (c & 63);
    const size_t word = static_cast<size_t>(c) >> 6;
    if (combining_class(parts[0]) == 0 && !seconds.contains(parts[0])) {
      boundary_[word] |= bit;
    }
    if (seconds.contains(c)) {
      composes_[word] |= bit;
    }
    const bool unchanged = parts.size() == 1 && parts[0] == c;
    if (unchanged || (compose && normalize({c}) == std::vector<int32_t>{c})) {
      inert_[word] |= bit;
    }
  }
  for (size_t word = 0; word < plain_.size(); ++word) {
    plain_[word] = inert_[word] & boundary_[word] & ~composes_[word];
  }
}

size_t NormalForm::find_abnormal(std::string_view text, size_t at) const {
  size_t cluster = at;  // begin of the character that the next one may compose with
  int last_class = 0;   // combining class of the character before
  while (at < text.size()) {
    if (const size_t end = skip_ascii(text, at); end > at) {
      last_class = 0;
      cluster = end - 1;
      at = end;
      continue;
    }
    const DecodedChar c = decode_utf8(text, at);
    if (!c.well_formed) {
      last_class = 0;
      cluster = at + c.byte_count;
    } else if (is_plain(c.code_point)) {
      last_class = 0;
      cluster = at;
    } else {
      const bool boundary = is_boundary(c.code_point);
      if (boundary) {
        cluster = at;
      }
      if (!is_inert(c.code_point) || test(composes_, c.code_point)) {
        return cluster;
      }
      const int own_class = boundary ? 0 : combining_class(static_cast<int32_t>(c.code_point));
      if (own_class != 0 && own_class < last_class) {
        return cluster;
      }
      last_class = own_class;
    }
    at += c.byte_count;
  }
  return at;
}

std::vector<int32_t> NormalForm::normalize(const std::vector<int32_t>& characters) const {
  std::vector<int32_t> result;
  for (const int32_t c : characters) {
    append_decomposition(c, compatibility_, result);
  }
  reorder(result);
  if (compose_) {
    text::compose(result);
  }
  return result;
}

}  // namespace netcl::text
