// SPDX-License-Identifier: Apache-2.0
#include "text/code_point_set.h"

#include <algorithm>
#include <map>

#include <utf8proc.h>

namespace netcl::text {

namespace {

// Simple case folding. utf8proc stores the full folding; where that has several characters, the
// simple one is that of the lower case. U+0130 has no simple folding.
char32_t simple_fold(char32_t c) {
  if (c == 0x0130) {
    return c;
  }
  const auto code = static_cast<utf8proc_int32_t>(c);
  utf8proc_int32_t folded[8];
  int boundary = 0;
  const utf8proc_ssize_t length =
      utf8proc_decompose_char(code, folded, 8, UTF8PROC_CASEFOLD, &boundary);
  return static_cast<char32_t>(length == 1 ? folded[0] : utf8proc_tolower(code));
}

// Members of each class of characters with the same simple folding, two or more, by any member.
const std::map<char32_t, std::vector<char32_t>>& case_classes() {
  static const std::map<char32_t, std::vector<char32_t>> classes = [] {
    std::map<char32_t, std::vector<char32_t>> by_fold;
    for (const PropertyRun& run : property_runs()) {
      // Only these categories have characters with case; U+0345 is a mark.
      const auto category = static_cast<Category>(run.properties & kCategoryBits);
      if (!(mask_of(category) & (kLetters | kMarks | kNumbers | kSymbols))) {
        continue;
      }
      for (char32_t c = run.first; c <= run.last; ++c) {
        const char32_t folded = simple_fold(c);
        if (folded != c) {
          std::vector<char32_t>& members = by_fold[folded];
          if (members.empty()) {
            members.push_back(folded);
          }
          members.push_back(c);
        }
      }
    }
    std::map<char32_t, std::vector<char32_t>> by_member;
    for (const auto& [folded, members] : by_fold) {
      for (const char32_t member : members) {
        by_member[member] = members;
      }
    }
    return by_member;
  }();
  return classes;
}

CodePointSet with_property(uint8_t bit) {
  CodePointSet set;
  for (const PropertyRun& run : property_runs()) {
    if ((run.properties & bit) != 0) {
      set.unite({{run.first, run.last}});
    }
  }
  return set;
}

}  // namespace

CodePointSet::CodePointSet(std::initializer_list<Range> ranges) {
  for (const Range& range : ranges) {
    ranges_.push_back(range);
  }
  unite({});
}

CodePointSet CodePointSet::of_categories(CategoryMask mask) {
  CodePointSet set;
  for (const PropertyRun& run : property_runs()) {
    if ((mask_of(static_cast<Category>(run.properties & kCategoryBits)) & mask) != 0) {
      set.ranges_.push_back({run.first, run.last});
    }
  }
  set.unite({});
  return set;
}

CodePointSet CodePointSet::white_space() {
  return with_property(kWhiteSpaceBit);
}

CodePointSet CodePointSet::han() {
  return with_property(kHanBit);
}

bool CodePointSet::contains(char32_t c) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), c,
                       [](char32_t value, const Range& r) { return value < r.first; });
  return after != ranges_.begin() && c <= std::prev(after)->last;
}

size_t CodePointSet::count() const {
  size_t total = 0;
  for (const Range& range : ranges_) {
    total += range.last - range.first + 1;
  }
  return total;
}

void CodePointSet::unite(const CodePointSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

void CodePointSet::intersect(const CodePointSet& other) {
  std::vector<Range> common;
  for (size_t i = 0, j = 0; i < ranges_.size() && j < other.ranges_.size();) {
    const Range& a = ranges_[i];
    const Range& b = other.ranges_[j];
    const Range overlap{std::max(a.first, b.first), std::min(a.last, b.last)};
    if (overlap.first <= overlap.last) {
      common.push_back(overlap);
    }
    if (a.last < b.last) {
      ++i;
    } else {
      ++j;
    }
  }
  ranges_ = std::move(common);
}

void CodePointSet::complement() {
  std::vector<Range> gaps;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) {
      gaps.push_back({next, range.first - 1});
    }
    next = range.last + 1;
  }
  if (next <= kMaxCodePoint) {
    gaps.push_back({next, kMaxCodePoint});
  }
  ranges_ = std::move(gaps);
}

void CodePointSet::close_over_case() {
  CodePointSet added;
  for (const auto& [member, same_fold] : case_classes()) {
    if (contains(member)) {
      for (const char32_t c : same_fold) {
        added.ranges_.push_back({c, c});
      }
    }
  }
  unite(added);
}

}  // namespace netcl::text
