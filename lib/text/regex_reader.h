// SPDX-License-Identifier: Apache-2.0
// Reading position in a regular expression, shared by the parts of the pattern translator.
#ifndef NETCL_TEXT_REGEX_READER_H_
#define NETCL_TEXT_REGEX_READER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/unicode.h"

namespace netcl::text {

// The options in force at one place of a pattern.
struct RegexOptions {
  bool ignore_case = false;
  bool dot_matches_newline = false;
  bool multi_line = false;  // fancy-regex only; Oniguruma's ^ and $ always match at lines
};

// A cursor over the pattern. Requires valid UTF-8 for next_code_point().
class RegexReader {
 public:
  explicit RegexReader(std::string_view pattern) : pattern_(pattern) {}

  std::string_view pattern() const { return pattern_; }
  size_t pos() const { return pos_; }
  void seek(size_t pos) { pos_ = pos; }
  bool at_end() const { return pos_ >= pattern_.size(); }
  // The byte at the cursor; NUL at the end.
  char peek() const { return at_end() ? '\0' : pattern_[pos_]; }
  bool looking_at(std::string_view text) const { return pattern_.substr(pos_).starts_with(text); }
  bool accept(std::string_view text) {
    if (!looking_at(text)) {
      return false;
    }
    pos_ += text.size();
    return true;
  }
  char32_t next_code_point() {
    const DecodedChar c = decode_utf8(pattern_, pos_);
    pos_ += c.byte_count;
    return c.code_point;
  }

  [[noreturn]] void fail(size_t offset, const std::string& what) const {
    throw base::FormatError(base::at_byte("pattern", offset) + ": " + what + " in " +
                            base::quote(pattern_, 200));
  }

  // Counts nesting for the time of one group or class, so that no input overflows the stack. The
  // limit is below PCRE2's own of 250 nested parentheses.
  class Nested {
   public:
    explicit Nested(RegexReader& reader) : reader_(reader) {
      constexpr int kMaxDepth = 200;
      if (++reader_.depth_ > kMaxDepth) {
        --reader_.depth_;
        reader_.fail(reader_.pos_, "nested more than " + std::to_string(kMaxDepth) + " deep");
      }
    }
    ~Nested() { --reader_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    RegexReader& reader_;
  };

 private:
  std::string_view pattern_;
  size_t pos_ = 0;
  int depth_ = 0;
};

constexpr bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_ascii_digit(char32_t c) {
  return c >= '0' && c <= '9';
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_REGEX_READER_H_
