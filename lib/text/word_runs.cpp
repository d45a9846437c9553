// SPDX-License-Identifier: Apache-2.0
#include "text/word_runs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace netcl::text {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 15;  // of a run that is read
constexpr uint64_t kHeadBytes = 2 * sizeof(uint64_t);

// A record: count and size of the word, 8 bytes each, then its bytes.
void write_record(base::TemporaryFile& file, std::string_view word, uint64_t count) {
  const std::array<uint64_t, 2> head = {count, word.size()};
  std::array<char, sizeof head> bytes{};
  std::memcpy(bytes.data(), head.data(), sizeof head);
  file.write({bytes.data(), bytes.size()});
  file.write(word);
}

}  // namespace

// Reads the records of a run one after the other.
class WordRuns::Reader {
 public:
  explicit Reader(const Run& run) : file_(run.file) {}

  // Goes to the next record; false at the end.
  bool next() {
    std::array<uint64_t, 2> head{};
    if (!fill(kHeadBytes)) {
      return false;
    }
    std::memcpy(head.data(), buffer_.data() + at_, sizeof head);
    at_ += kHeadBytes;
    count_ = head[0];
    NETCL_CHECK(fill(head[1]));
    word_ = {buffer_.data() + at_, static_cast<size_t>(head[1])};
    at_ += head[1];
    return true;
  }
  std::string_view word() const { return word_; }
  uint64_t count() const { return count_; }

 private:
  // Makes `size` bytes from at_ on be there; false when the file has no more.
  bool fill(uint64_t size) {
    if (end_ - at_ >= size) {
      return true;
    }
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    buffer_.resize(std::max<size_t>(kBufferBytes, size));
    while (end_ < size) {
      const size_t got = file_.read(offset_, {buffer_.data() + end_, buffer_.size() - end_});
      if (got == 0) {
        return false;
      }
      offset_ += got;
      end_ += got;
    }
    return true;
  }

  const base::TemporaryFile& file_;
  std::string buffer_;
  size_t at_ = 0;   // in the buffer, of what has not been given
  size_t end_ = 0;  // of what has been read
  uint64_t offset_ = 0;
  std::string_view word_;
  uint64_t count_ = 0;
};

void WordRuns::check_room(uint64_t bytes) const {
  const uint64_t free_bytes = base::free_disk_bytes(directory_);
  if (free_bytes < bytes) {
    throw base::IoError(directory_ + ": counts that do not fit into memory need " +
                        std::to_string(bytes) + " bytes here, but " + std::to_string(free_bytes) +
                        " are free; choose another place or allow more memory");
  }
}

void WordRuns::add_run(WordCounts& words) {
  if (words.size() == 0) {
    return;
  }
  uint64_t bytes = 0;
  words.for_each([&](std::string_view word, uint64_t) { bytes += kHeadBytes + word.size(); });
  check_room(bytes);
  Run run{base::TemporaryFile(directory_), words.size()};
  words.take_sorted(
      [&](std::string_view word, uint64_t count) { write_record(run.file, word, count); });
  run.file.flush();
  const std::lock_guard lock(mutex_);
  runs_.push_back(std::move(run));
  if (runs_.size() > most_runs_) {
    merge();
  }
}

void WordRuns::merge() {
  if (runs_.size() < 2) {
    return;
  }
  uint64_t bytes = 0;
  for (const Run& run : runs_) {
    bytes += run.file.size();
  }
  check_room(bytes);
  Run run = merged();
  runs_.clear();
  runs_.push_back(std::move(run));
}

// A heap holds the run with the smallest next word on top.
WordRuns::Run WordRuns::merged() const {
  Run result{base::TemporaryFile(directory_)};
  std::vector<Reader> readers;
  readers.reserve(runs_.size());
  for (const Run& run : runs_) {
    readers.emplace_back(run);
  }
  const auto comes_later = [&](size_t a, size_t b) {
    return readers[a].word() > readers[b].word();
  };
  std::vector<size_t> heap;
  for (size_t i = 0; i < readers.size(); ++i) {
    if (readers[i].next()) {
      heap.push_back(i);
    }
  }
  std::make_heap(heap.begin(), heap.end(), comes_later);
  std::string word;
  while (!heap.empty()) {
    word = readers[heap.front()].word();
    uint64_t count = 0;
    while (!heap.empty() && readers[heap.front()].word() == word) {
      std::pop_heap(heap.begin(), heap.end(), comes_later);
      Reader& reader = readers[heap.back()];
      count += reader.count();
      if (reader.next()) {
        std::push_heap(heap.begin(), heap.end(), comes_later);
      } else {
        heap.pop_back();
      }
    }
    write_record(result.file, word, count);
    result.words += 1;
  }
  result.file.flush();
  return result;
}

uint64_t WordRuns::word_count() const {
  NETCL_CHECK(runs_.size() == 1);
  return runs_.front().words;
}

void WordRuns::for_each(const std::function<void(std::string_view, uint64_t)>& use) const {
  NETCL_CHECK(runs_.size() == 1);
  Reader reader(runs_.front());
  while (reader.next()) {
    use(reader.word(), reader.count());
  }
}

}  // namespace netcl::text
