// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_text.h"

#include <algorithm>
#include <utility>

namespace netcl::text::jinja {

Text::Text(std::string bytes, Marks marks) : bytes_(std::move(bytes)), first_(marks) {
  check_growth(0);
}

void Text::check_growth(size_t more) const {
  if (more > kMaxBytes || bytes_.size() > kMaxBytes - more) {
    throw Failure("a string grows beyond " + std::to_string(kMaxBytes >> 20) + " MiB");
  }
}

void Text::add_border(Marks marks) {
  if (borders_.size() >= kMaxBytes / sizeof(Border)) {
    throw Failure("a string is put together from more than " + std::to_string(borders_.size()) +
                  " pieces of the template and of others");
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
  append(bytes, other.common_marks(begin, end));
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
