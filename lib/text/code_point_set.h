// SPDX-License-Identifier: Apache-2.0
// Sets of code points as sorted ranges: what character classes of regular expressions mean. The
// universe is 0..U+10FFFF.
#ifndef NETCL_TEXT_CODE_POINT_SET_H_
#define NETCL_TEXT_CODE_POINT_SET_H_

#include <initializer_list>
#include <vector>

#include "text/unicode.h"

namespace netcl::text {

// A value type. The ranges are ascending, disjoint and not adjacent.
class CodePointSet {
 public:
  struct Range {
    char32_t first = 0;
    char32_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  CodePointSet() = default;
  CodePointSet(std::initializer_list<Range> ranges);

  // Code points of the given general categories, and those with a property, from the 16.0 tables.
  static CodePointSet of_categories(CategoryMask mask);
  static CodePointSet white_space();
  static CodePointSet han();
  static CodePointSet all() { return {{0, kMaxCodePoint}}; }

  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool contains(char32_t c) const;
  // Number of code points in the set.
  size_t count() const;

  // Cost of each operation: linear in the ranges of both sets, plus a sort for unite.
  void unite(const CodePointSet& other);
  void intersect(const CodePointSet& other);
  void complement();
  // Adds every code point that has the simple case folding of a member (Unicode CaseFolding.txt,
  // statuses C and S, as utf8proc knows them): k brings K and U+212A, s brings S and U+017F.
  void close_over_case();

  friend bool operator==(const CodePointSet&, const CodePointSet&) = default;

 private:
  std::vector<Range> ranges_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_CODE_POINT_SET_H_
