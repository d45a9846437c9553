// SPDX-License-Identifier: Apache-2.0
#include "base/line_reader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace netcl::base {

namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;

}  // namespace

void refuse_long_line(const std::string& where, uint64_t most_bytes) {
  throw FormatError(where + ": a line of more than " + std::to_string(most_bytes) +
                    " bytes; is the input text with line ends?");
}

LineReader::LineReader(const std::string& path, uint64_t most_line_bytes)
    : reader_(path), most_line_bytes_(most_line_bytes) {}

std::string LineReader::where() const {
  return at_line(path(), line_number_);
}

void LineReader::refuse_line() const {
  refuse_long_line(at_line(path(), line_number_ + 1), most_line_bytes_);
}

// Reads on behind the text from begin_, which moves to the front.
void LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, used_ - begin_);
    used_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - used_ < kChunkBytes) {
    buffer_.resize(std::max(buffer_.size() * 2, used_ + kChunkBytes));
  }
  const size_t got = reader_.read({buffer_.data() + used_, buffer_.size() - used_});
  used_ += got;
  read_bytes_ += got;
  at_end_ = got == 0;
}

bool LineReader::next() {
  size_t searched = 0;  // bytes from begin_ that hold no line end
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const size_t size = used_ - begin_;
    const void* end =
        size == searched ? nullptr : std::memchr(from + searched, '\n', size - searched);
    complete_ = end != nullptr;
    const size_t length =
        complete_ ? static_cast<size_t>(static_cast<const char*>(end) - from) : size;
    if (length > most_line_bytes_) {
      refuse_line();
    }
    if (complete_ || (at_end_ && size > 0)) {
      line_ = {from, length};
      const size_t passed = length + (complete_ ? 1 : 0);
      begin_ += passed;
      passed_bytes_ += passed;
      ++line_number_;
      return true;
    }
    if (at_end_) {
      return false;
    }
    searched = size;
    fill();
  }
}

}  // namespace netcl::base
