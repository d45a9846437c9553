// SPDX-License-Identifier: Apache-2.0
// The four Unicode normal forms (UAX 15) of short pieces of text, with the boundaries between which
// pieces can be normalized one by one. The data are utf8proc's; reordering is ours, because
// utf8proc's takes quadratic time on a long run of marks.
#ifndef NETCL_TEXT_NORMAL_FORM_H_
#define NETCL_TEXT_NORMAL_FORM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text {

// One normal form. Immutable; made once per form and process (some 10 ms).
class NormalForm {
 public:
  static const NormalForm& get(bool compose, bool compatibility);

  // True when normalizing before and after this character apart gives the same as together: its
  // decomposition begins with a starter that composes with nothing before it.
  bool is_boundary(char32_t c) const { return test(boundary_, c); }
  // True when the character alone is its own normal form.
  bool is_inert(char32_t c) const { return test(inert_, c); }

  // True when the character is inert, a boundary, and composes with nothing before it: whatever
  // stands before it, it comes out as it is, unless a character behind it joins it.
  bool is_plain(char32_t c) const { return test(plain_, c); }

  // Where the text may stop to be in this form, seen from byte `at`, the begin of a character
  // before which nothing matters: the begin of a character and those that may compose with it, or
  // the end. All before it is surely in this form (the quick check of UAX 15, section 9): each
  // character alone is, none composes with one before it, and marks stand in order. Bytes that are
  // no well-formed UTF-8 take part in nothing. One pass; most text of any language passes.
  size_t find_abnormal(std::string_view text, size_t at) const;
  bool is_normal(std::string_view text) const { return find_abnormal(text, 0) == text.size(); }

  // Normal form of characters (no surrogates).
  std::vector<int32_t> normalize(const std::vector<int32_t>& characters) const;

 private:
  NormalForm(bool compose, bool compatibility);
  static bool test(const std::vector<uint64_t>& bits, char32_t c) {
    return ((bits[c >> 6] >> (c & 63)) & 1) != 0;
  }
  bool compose_;
  bool compatibility_;
  std::vector<uint64_t> boundary_;  // one bit per code point
  std::vector<uint64_t> inert_;
  std::vector<uint64_t> composes_;  // with a character before it
  std::vector<uint64_t> plain_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_NORMAL_FORM_H_
