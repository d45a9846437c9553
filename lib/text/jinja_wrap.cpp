// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_wrap.h"

#include <algorithm>

#include "text/jinja_chars.h"

namespace netcl::text::jinja {

namespace {

// Characters [begin, end) that stay on one line, if they fit.
struct Chunk {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

class Paragraph {
 public:
  Paragraph(const Text& text, Budget& budget) : text_(text) {
    constexpr size_t kBytes = sizeof(size_t) + sizeof(char32_t);
    budget.step(text.size() / 8);
    budget.made(text.size() * kBytes);
    charge_.set(text.size() * kBytes);
    begins_ = character_begins(text.bytes());
    points_.reserve(begins_.size() - 1);
    for (size_t i = 0; i + 1 < begins_.size(); ++i) {
      points_.push_back(decode_utf8(text.bytes(), begins_[i]).code_point);
    }
  }

  size_t size() const { return points_.size(); }
  Text slice(const Chunk& chunk) const {
    return text_.slice(begins_[chunk.begin], begins_[chunk.end]);
  }
  char32_t at(size_t i) const { return points_[i]; }
  bool is_dash(size_t i) const { return i < size() && points_[i] == '-'; }
  // The white space that textwrap breaks at, which is that of ASCII.
  bool is_blank(size_t i) const {
    return i < size() && (points_[i] == ' ' || (points_[i] >= 0x09 && points_[i] <= 0x0D));
  }
  // \w of Python.
  bool is_word(size_t i) const {
    return i < size() && (points_[i] == '_' || is_letter(points_[i]) || is_number(points_[i]));
  }
  // \w but no decimal digit.
  bool is_word_letter(size_t i) const {
    return is_word(i) && !in_categories(points_[i], mask_of(Category::kDecimalNumber));
  }
  // What may stand before a dash between words.
  bool is_before_dash(size_t i) const {
    return is_word(i) || (i < size() && points_[i] < 0x80 &&
                          std::string_view("!\"'&.,?").find(static_cast<char>(points_[i])) !=
                              std::string_view::npos);
  }
  // End of a run of two or more dashes at `i` that a word follows; `i` where there is none.
  size_t end_of_dashes(size_t i) const {
    size_t end = i;
    while (is_dash(end)) {
      ++end;
    }
    return end >= i + 2 && is_word(end) ? end : i;
  }
  // Whether the dash at `i` joins the parts of a word: letters on both sides, two of them unless
  // dashes stand between.
  bool is_hyphen(size_t i) const {
    const bool follows =
        i >= 2 && is_word_letter(i - 1) &&
        (is_word_letter(i - 2) || (i >= 3 && is_dash(i - 2) && is_word_letter(i - 3)));
    return is_dash(i) && follows && is_word_letter(i + 1) &&
           (is_word_letter(i + 2) || (is_dash(i + 2) && is_word_letter(i + 3)));
  }
  bool is_all_space(const Chunk& chunk) const {
    for (size_t i = chunk.begin; i < chunk.end; ++i) {
      if (!is_python_space(points_[i])) {
        return false;
      }
    }
    return true;
  }

 private:
  const Text& text_;
  MemoryCharge charge_;
  std::vector<size_t> begins_;
  std::vector<char32_t> points_;
};

size_t end_of_word(const Paragraph& text, size_t begin, bool breaks_on_hyphens) {
  size_t end = begin;
  while (end < text.size() && !text.is_blank(end)) {
    if (breaks_on_hyphens && end > begin) {
      if (text.is_hyphen(end)) {
        return end + 1;
      }
      if (text.is_before_dash(end - 1) && text.end_of_dashes(end) > end) {
        return end;
      }
    }
    ++end;
  }
  return end;
}

std::vector<Chunk> chunks_of(const Paragraph& text, bool breaks_on_hyphens, Budget& budget) {
  std::vector<Chunk> chunks;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (text.is_blank(end)) {
      ++end;
    }
    if (end == begin && breaks_on_hyphens && begin > 0 && text.is_before_dash(begin - 1)) {
      end = text.end_of_dashes(begin);
    }
    if (end == begin) {
      end = end_of_word(text, begin, breaks_on_hyphens);
    }
    budget.made(sizeof(Chunk));
    check_memory((chunks.size() + 1) * 2 * sizeof(Chunk));
    chunks.push_back({begin, end});
    begin = end;
  }
  return chunks;
}

// How much of a chunk that is longer than a line goes into `space` characters.
size_t cut_of(const Paragraph& text, const Chunk& chunk, size_t space, bool breaks_on_hyphens) {
  if (!breaks_on_hyphens || chunk.size() <= space) {
    return std::min(chunk.size(), space);
  }
  for (size_t hyphen = space; hyphen-- > 1;) {
    if (!text.is_dash(chunk.begin + hyphen)) {
      continue;
    }
    for (size_t i = 0; i < hyphen; ++i) {
      if (!text.is_dash(chunk.begin + i)) {
        return hyphen + 1;
      }
    }
    break;
  }
  return space;
}

}  // namespace

std::vector<Text> wrapped(const Text& text, const WrapStyle& style, Budget& budget) {
  const Paragraph paragraph(text, budget);
  std::vector<Chunk> chunks = chunks_of(paragraph, style.breaks_on_hyphens, budget);
  MemoryCharge charge;
  charge.set(chunks.size() * sizeof(Chunk));
  std::vector<Text> lines;
  for (size_t next = 0; next < chunks.size();) {
    if (!lines.empty() && paragraph.is_all_space(chunks[next])) {
      ++next;
    }
    std::vector<Chunk> line;
    size_t length = 0;
    while (next < chunks.size() && length + chunks[next].size() <= style.width) {
      length += chunks[next].size();
      line.push_back(chunks[next++]);
    }
    if (next < chunks.size() && chunks[next].size() > style.width) {
      Chunk& chunk = chunks[next];
      if (style.breaks_long_words) {
        const size_t cut = cut_of(paragraph, chunk, style.width - length, style.breaks_on_hyphens);
        line.push_back({chunk.begin, chunk.begin + cut});
        chunk.begin += cut;
      } else if (line.empty()) {
        line.push_back(chunk);
        ++next;
      }
    }
    if (!line.empty() && paragraph.is_all_space(line.back())) {
      line.pop_back();
    }
    if (!line.empty()) {
      budget.made(sizeof(Text));
      lines.push_back(paragraph.slice({line.front().begin, line.back().end}));
      charge.add(2 * sizeof(Text) + lines.back().memory());
    }
    budget.step();
  }
  return lines;
}

}  // namespace netcl::text::jinja
