// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_text.h"

#include <algorithm>
#include <utility>

#include "text/jinja_memory.h"

namespace netcl::text::jinja {

Text::Text(std::string bytes, Marks marks) : bytes_(std::move(bytes)), first_(marks) {
  check_growth(0);
}

void Text::check_growth(size_t more) const {
  if (more > kMaxBytes || bytes_.size() > kMaxBytes - more) {
    throw Failure("a string grows beyond " + std::to_string(kMaxBytes >> 20) + " MiB");
  }
  if (bytes_.size() + more > bytes_.capacity()) {
    check_memory(memory() + more);
  }
}

void Text::add_border(Marks marks) {
  if (borders_.size() >= kMaxBytes / sizeof(Border)) {
    throw Failure("a string is put together from more than " + std::to_string(borders_.size()) +
                  " pieces of the template and of others");
  }
  if (borders_.size() == borders_.capacity()) {
    check_memory(memory() + borders_.size() * sizeof(Border));
  }
  borders_.push_back({bytes_.size(), marks});
}

void Text::append(std::string_view bytes, Marks marks) {
  if (bytes.empty()) {
    return;
  }
  check_growth(bytes.size());
  if (bytes_.empty()) {
    first_ = marks;
  } else if ((borders_.empty() ? first_ : borders_.back().marks) != marks) {
    add_border(marks);
  }
  bytes_.append(bytes);
}

void Text::append_repeated(const Text& other, size_t count) {
  if (!other.borders_.empty()) {
    for (size_t i = 0; i < count; ++i) {
      append(other);
    }
    return;
  }
  // Pieces of up to a mebibyte: byte by byte it would take seconds.
  const size_t piece_count =
      std::clamp((size_t{1} << 20) / std::max(other.size(), size_t{1}), size_t{1}, count + 1);
  std::string piece;
  for (size_t i = 0; i < piece_count; ++i) {
    piece += other.bytes_;
  }
  for (; count >= piece_count; count -= piece_count) {
    append(piece, other.first_);
  }
  append(std::string_view(piece).substr(0, count * other.size()), other.first_);
}

void Text::append(const Text& other, size_t begin, size_t end) {
  if (&other == this) {
    append(Text(other), begin, end);
    return;
  }
  const std::string_view bytes = other.bytes_;
  other.for_each_run(begin, end, [&](size_t from, size_t to, Marks marks) {
    append(bytes.substr(from, to - from), marks);
  });
}

void Text::append_for(std::string_view bytes, const Text& other, size_t begin, size_t end) {
  append(bytes, other.borders_.empty() ? other.first_ : other.common_marks(begin, end));
}

Text Text::slice(size_t begin, size_t end) const {
  Text part;
  part.append(*this, begin, end);
  return part;
}

Marks Text::marks_at(size_t byte) const {
  const size_t border = border_after(byte);
  return border == 0 ? first_ : borders_[border - 1].marks;
}

Marks Text::common_marks(size_t begin, size_t end) const {
  Marks common = marks_at(begin);
  for_each_run(begin, end, [&](size_t, size_t, Marks marks) { common &= marks; });
  return common;
}

void Text::add_marks(Marks marks) {
  // Borders between runs that only differed in what is added here stay: they do no harm.
  first_ |= marks;
  for (Border& border : borders_) {
    border.marks |= marks;
  }
}

size_t Text::border_after(size_t byte) const {
  const auto found =
      std::upper_bound(borders_.begin(), borders_.end(), byte,
                       [](size_t wanted, const Border& border) { return wanted < border.at; });
  return static_cast<size_t>(found - borders_.begin());
}

}  // namespace netcl::text::jinja
