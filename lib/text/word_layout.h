// SPDX-License-Identifier: Apache-2.0
// Where the words of a corpus go in one array, so that those with equal counts lie together.
#ifndef NETCL_TEXT_WORD_LAYOUT_H_
#define NETCL_TEXT_WORD_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text {

// Calls its argument with every distinct word and its count, in any order but always the same. A
// view lives until the call returns.
using WordVisitor = std::function<void(std::string_view word, uint64_t count)>;
using WordWalk = std::function<void(const WordVisitor& visit)>;

// A part of the array: slots from `begin` to the next segment's begin hold words of this count.
struct CountSegment {
  uint32_t begin = 0;
  uint64_t count = 0;
};

// Made in one walk over the words, without sorting them: slots are summed up for each count, and
// only words of high counts, which are few, are kept.
class WordLayout {
 public:
  // Words of one byte and words that never occur get no slots. Throws UsageError when the others
  // would need more than kMostSlots.
  explicit WordLayout(const WordWalk& words);

  static constexpr uint64_t kMostSlots = (uint64_t{1} << 32) - 2;

  // Slots of all words: one a byte and a separator after each word; slot 0 is a separator too.
  uint64_t slot_count() const { return slot_count_; }
  uint64_t byte_count() const { return slot_count_ - 1 - word_count_; }
  uint64_t word_count() const { return word_count_; }
  uint64_t longest_word() const { return longest_word_; }
  // Memory of the layout itself, and of the word that is on its way.
  uint64_t kept_bytes() const;
  // Neighbouring pairs of bytes, times the counts of their words.
  uint64_t pair_weight() const { return pair_weight_; }
  // Occurrences of all words of one byte.
  uint64_t one_byte_count() const { return one_byte_count_; }
  // Ascending begins, descending counts; ends with one of count 0 that begins past the last slot.
  const std::vector<CountSegment>& segments() const { return segments_; }

  // Calls place(word, slot) for each word that has slots, in one more walk.
  void place_all(const WordWalk& words,
                 const std::function<void(std::string_view word, uint64_t slot)>& place) const;

 private:
  struct FrequentWord {
    std::string bytes;
    uint64_t count = 0;
  };

  std::vector<FrequentWord> frequent_;    // by descending count
  std::vector<uint64_t> begin_of_count_;  // of the words of the other counts
  std::vector<CountSegment> segments_;
  uint64_t slot_count_ = 1;
  uint64_t word_count_ = 0;
  uint64_t longest_word_ = 0;
  uint64_t pair_weight_ = 0;
  uint64_t one_byte_count_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_WORD_LAYOUT_H_
