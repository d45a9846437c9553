// SPDX-License-Identifier: Apache-2.0
// The strings of the template engine: UTF-8 bytes, each with marks that say where it comes from.
// Marks travel with their bytes through every operation, so that text of a conversation can never
// pass for text that the template wrote.
#ifndef NETCL_TEXT_JINJA_TEXT_H_
#define NETCL_TEXT_JINJA_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text::jinja {

// What goes wrong while a template is evaluated. Only inside the engine: it leaves the engine as
// base::FormatError with the place in the template.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Marks = uint8_t;
inline constexpr Marks kNoMarks = 0;
inline constexpr Marks kTrusted = 1;    // from the template or a special-token variable
inline constexpr Marks kGenerated = 2;  // inside a generation block

// A byte string with marks. Runs of bytes with equal marks are kept as the places where marks
// change, so a text of one origin costs no more than a string.
class Text {
 public:
  // Longer texts, and those whose marks would take as much, are refused with Failure, whatever
  // makes them.
  static constexpr size_t kMaxBytes = size_t{1} << 28;

  Text() = default;
  Text(std::string bytes, Marks marks);

  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  // Bytes of memory, about, with the marks.
  size_t memory() const { return bytes_.size() + borders_.size() * sizeof(Border); }
  bool empty() const { return bytes_.empty(); }

  void append(std::string_view bytes, Marks marks);
  void append(const Text& other) { append(other, 0, other.size()); }
  // `other`, another text than this one, `count` times.
  void append_repeated(const Text& other, size_t count);
  // Bytes [begin, end) of `other`.
  void append(const Text& other, size_t begin, size_t end);
  // What stands for bytes [begin, end) of `other` and so bears their marks: those that all share.
  void append_for(std::string_view bytes, const Text& other, size_t begin, size_t end);

  Text slice(size_t begin, size_t end) const;
  Marks marks_at(size_t byte) const;
  // The marks that all bytes of [begin, end) have; those of the text around for none.
  Marks common_marks(size_t begin, size_t end) const;
  Marks common_marks() const { return common_marks(0, size()); }
  void add_marks(Marks marks);

  // Calls visit(begin, end, marks) for each run of [begin, end), in order.
  template <typename Visit>
  void for_each_run(size_t begin, size_t end, const Visit& visit) const {
    size_t border = border_after(begin);
    while (begin < end) {
      const Marks marks = border == 0 ? first_ : borders_[border - 1].marks;
      const size_t limit = border < borders_.size() ? borders_[border].at : bytes_.size();
      const size_t stop = limit < end ? limit : end;
      visit(begin, stop, marks);
      begin = stop;
      ++border;
    }
  }

 private:
  struct Border {
    size_t at;
    Marks marks;  // from `at` to the next border
  };

  // Index of the first border that lies after `byte`.
  size_t border_after(size_t byte) const;
  void check_growth(size_t more) const;
  void add_border(Marks marks);

  std::string bytes_;
  Marks first_ = kNoMarks;  // up to the first border
  std::vector<Border> borders_;
};

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_TEXT_H_
