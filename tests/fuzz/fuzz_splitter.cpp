// SPDX-License-Identifier: Apache-2.0
// The first byte chooses a known pattern, the rest is text: the pieces of its scanner cover the
// text, are those of PCRE2 and are the same at every CPU level of this machine, however few ends
// are asked for at a time.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "text/pre_splitter.h"
#include "text/regex_splitter.h"

namespace {

using namespace netcl;

struct Pair {
  std::shared_ptr<const text::PreSplitter> scanner;
  std::shared_ptr<const text::PreSplitter> oracle;
};

const std::vector<Pair>& pairs() {
  static const auto* const all = [] {
    auto* result = new std::vector<Pair>();
    for (const std::string_view name : text::splitter_names()) {
      auto scanner = text::make_named_splitter(name);
      auto oracle = text::make_pcre2_splitter(scanner->pattern());
      result->push_back({std::move(scanner), std::move(oracle)});
    }
    return result;
  }();
  return *all;
}

void check_ends(const text::PreSplitter& scanner, std::string_view input, size_t room,
                const std::vector<text::Piece>& expected) {
  std::vector<size_t> ends(room);
  size_t done = 0;
  size_t count = room;
  for (size_t begin = 0; count == room; begin = count > 0 ? ends[count - 1] : begin) {
    count = scanner.next_ends(input, begin, ends);
    NETCL_CHECK(count <= room && count <= expected.size() - done);
    for (size_t i = 0; i < count; ++i) {
      NETCL_CHECK(ends[i] == expected[done++].end);
    }
  }
  NETCL_CHECK(done == expected.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const Pair& pair = pairs()[data[0] % pairs().size()];
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<text::Piece> expected;
  pair.oracle->split(input, expected);
  size_t end = 0;
  for (const text::Piece& piece : expected) {
    NETCL_CHECK(piece.begin == end && piece.end > piece.begin);
    end = piece.end;
  }
  NETCL_CHECK(end == input.size());
  for (const base::CpuLevel level : base::machine_cpu_levels()) {
    base::limit_cpu_level(level);
    for (const size_t room : {1, 7, 64, 256}) {
      check_ends(*pair.scanner, input, room, expected);
    }
  }
  return 0;
}
