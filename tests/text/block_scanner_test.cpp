// SPDX-License-Identifier: Apache-2.0
// The vectorised scanners against the scalar ones at every CPU level of this machine.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/rng.h"
#include "hostile_text.h"
#include "support/catch.h"
#include "text/pre_splitter.h"
#include "text/unicode.h"

using namespace netcl;
using namespace netcl::text;

namespace {

// Puts the level back at the end of a test.
class LevelScope {
 public:
  LevelScope() : before_(base::cpu_level_limit()) {}
  ~LevelScope() { base::limit_cpu_level(before_); }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;

 private:
  base::CpuLevel before_;
};

std::span<const base::CpuLevel> vector_levels() {
  return base::machine_cpu_levels().subspan(1);
}

// Room for a text with pages around it that end the test when they are touched.
class GuardedRoom {
 public:
  explicit GuardedRoom(size_t size) : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    size_ = (size + page_ - 1) / page_ * page_;
    void* all = ::mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    begin_ = static_cast<char*>(all) + page_;
    REQUIRE(::mprotect(begin_, size_, PROT_READ | PROT_WRITE) == 0);
  }
  ~GuardedRoom() { ::munmap(begin_ - page_, size_ + 2 * page_); }
  GuardedRoom(const GuardedRoom&) = delete;
  GuardedRoom& operator=(const GuardedRoom&) = delete;

  // The text with its last byte before the guard page.
  std::string_view at_end(std::string_view text) {
    char* place = begin_ + size_ - text.size();
    std::memcpy(place, text.data(), text.size());
    return {place, text.size()};
  }

 private:
  size_t page_;
  size_t size_ = 0;
  char* begin_ = nullptr;
};

// All ends, asked for `room` at a time; what lies behind the room must stay untouched.
void ends_of(const PreSplitter& splitter, std::string_view text, size_t begin, size_t room,
             std::vector<size_t>& ends) {
  constexpr size_t kUntouched = 0x5A5A5A5A;
  static std::vector<size_t> part;
  part.assign(room + 1, kUntouched);
  ends.clear();
  while (true) {
    const size_t count = splitter.next_ends(text, begin, {part.data(), room});
    if (count > room || part[room] != kUntouched) {
      FAIL(splitter.name() << ": wrote " << count << " ends to room for " << room);
    }
    ends.insert(ends.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < room) {
      return;
    }
    begin = ends.back();
  }
}

class Comparison {
 public:
  Comparison() {
    for (const char* name : {"gpt2", "cl100k", "qwen2", "o200k"}) {
      splitters_.push_back(make_named_splitter(name));
    }
  }

  // From the begin of the text at all levels; with `restart` also from every border, and with room
  // for 1, 7 and 64 ends.
  void check(std::string_view text, bool restart) {
    for (const auto& splitter : splitters_) {
      base::limit_cpu_level(base::CpuLevel::kScalar);
      ends_of(*splitter, text, 0, 256, expected_);
      for (const base::CpuLevel level : vector_levels()) {
        base::limit_cpu_level(level);
        check_from(*splitter, text, 0, 256);
        if (restart) {
          for (const size_t room : {1, 7, 64}) {
            check_from(*splitter, text, 0, room);
          }
          for (const size_t border : expected_) {
            check_from(*splitter, text, border, 256);
          }
        }
      }
    }
  }

 private:
  void check_from(const PreSplitter& splitter, std::string_view text, size_t begin, size_t room) {
    ends_of(splitter, text, begin, room, ours_);
    const auto first = std::upper_bound(expected_.begin(), expected_.end(), begin);
    const auto count = static_cast<size_t>(expected_.end() - first);
    const auto [mine, theirs] = std::mismatch(ours_.begin(), ours_.end(), first, expected_.end());
    if (ours_.size() != count || mine != ours_.end()) {
      const size_t place = std::min(mine == ours_.end() ? text.size() : *mine,
                                    theirs == expected_.end() ? text.size() : *theirs);
      const size_t shown = place < 80 ? 0 : place - 80;
      FAIL(splitter.name() << " at level " << base::cpu_level_name(base::cpu_level()) << " from "
                           << begin << " with room " << room << ": ends differ at byte " << place
                           << " of " << text.size() << ", after "
                           << base::quote(text.substr(shown, place - shown), 400) << " before "
                           << base::quote(text.substr(place, 80), 400));
    }
  }

  std::vector<std::shared_ptr<const PreSplitter>> splitters_;
  std::vector<size_t> expected_;
  std::vector<size_t> ours_;
};

// Symbols drawn from a few of the hostile ones at a time, up to `size` bytes.
void random_text(base::Rng& rng, size_t size, std::string& text) {
  const uint64_t count = kSymbolsOfText.size();
  text.clear();
  while (text.size() < size) {
    const uint64_t spread = rng.below(2) == 0 ? 1 + rng.below(6) : count;
    const uint64_t offset = rng.below(count);
    for (uint64_t k = 1 + rng.below(24); k > 0 && text.size() < size; --k) {
      text += kSymbolsOfText[(offset + rng.below(spread)) % count];
    }
  }
  text.resize(size);  // may cut a character
}

}  // namespace

TEST_CASE("block scanner: every code point splits as the scalar scanner splits it") {
  const LevelScope scope;
  Comparison comparison;
  GuardedRoom room(1 << 20);
  std::string contexts;
  for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (c < 0xD800 || c > 0xDFFF) {
      contexts += contexts_of(encode_utf8(c)) + ".\n";
    }
    if (c % 4096 == 4095) {
      comparison.check(room.at_end(contexts), false);
      contexts.clear();
    }
  }
  CHECK(contexts.empty());
}

TEST_CASE("block scanner: every code point alone is one piece as the scalar scanner says") {
  const LevelScope scope;
  Comparison comparison;
  GuardedRoom room(8);
  for (const PropertyRun& run : property_runs()) {
    for (char32_t c = run.first; c <= run.last; ++c) {
      // The middle of a long run of equal code points is sampled.
      const bool decisive = c - run.first < 64 || run.last - c < 64 || c % 64 == 0;
      if (decisive && (c < 0xD800 || c > 0xDFFF)) {
        comparison.check(room.at_end(encode_utf8(c)), false);
      }
    }
  }
}

TEST_CASE("block scanner: random strings split as the scalar scanner splits them") {
  const LevelScope scope;
  Comparison comparison;
  GuardedRoom room(4096);
  base::Rng rng(64);
  std::string text;
  for (int i = 0; i < 30000; ++i) {
    random_text(rng, rng.below(301), text);
    comparison.check(room.at_end(text), i % 16 == 0);
  }
}

TEST_CASE("block scanner: all short strings over the decisive characters, across a block border") {
  const LevelScope scope;
  Comparison comparison;
  GuardedRoom room(4096);
  const std::vector<std::string> alphabet = {"s", "A",  "\u4E00", "\u0301", "1",
                                             " ", "\n", "/",      ".",      "'"};
  const std::string before = std::string(61, '8') + "\n";
  std::string text;
  for (size_t length = 1; length <= 5; ++length) {
    size_t strings = 1;
    for (size_t k = 0; k < length; ++k) {
      strings *= alphabet.size();
    }
    for (size_t number = 0; number < strings; ++number) {
      text.clear();
      for (size_t k = 0, rest = number; k < length; ++k, rest /= alphabet.size()) {
        text += alphabet[rest % alphabet.size()];
      }
      comparison.check(room.at_end(text), false);
      comparison.check(room.at_end(before + text), false);
    }
  }
}

TEST_CASE("block scanner: a rule at every offset of the block") {
  // A hostile start moved through a block by text before it that has pieces of its own or none.
  const LevelScope scope;
  Comparison comparison;
  GuardedRoom room(4096);
  base::Rng rng(65);
  std::string core;
  for (int i = 0; i < 40; ++i) {
    random_text(rng, 48, core);
    for (const std::string filler : {"x", "8", " ", ".", "\n", "\u4E00", "X"}) {
      std::string text;
      for (int offset = 0; offset < 66; ++offset) {
        text += filler;
        comparison.check(room.at_end(text + core), false);
      }
    }
  }
}

TEST_CASE("block scanner: long texts and runs") {
  const LevelScope scope;
  Comparison comparison;
  GuardedRoom room(1 << 17);
  base::Rng rng(66);
  std::string text;
  for (int i = 0; i < 40; ++i) {
    random_text(rng, 100000, text);
    comparison.check(room.at_end(text), false);
  }
  const std::vector<std::string> units = {
      "a",      "A",       "7",   " ",       "\n",   "\t", "^",      "'",       "/",
      "'s",     "\r\n",    " \n", "\u0301",  "\xFF", "aA", "\u3000", "\n  ",    "\u0663",
      "\u4E00", "\u4E00A", "\n/", "A\u0301", "1234", " a", "it's ",  "\u00A0x", ".\n"};
  for (const std::string& unit : units) {
    text.clear();
    while (text.size() < 1000) {
      text += unit;
    }
    for (const char* tail : {"", "x", " x", "\n", "1", "."}) {
      comparison.check(room.at_end(text + tail), true);
    }
  }
}
