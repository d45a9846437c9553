// SPDX-License-Identifier: Apache-2.0
// Pre-tokens of the reference implementations. golden/pretok/NAME.jsonl holds the byte lengths by
// text id; the texts of all ids are in golden/gpt2.jsonl.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json_file.h"
#include "support/catch.h"
#include "support/skip.h"
#include "text/pre_splitter.h"
#include "text/regex_splitter.h"

using namespace netcl;
using namespace netcl::text;

namespace {

using Splitters = std::vector<std::shared_ptr<const PreSplitter>>;

template <class Visit>
void for_each_line(const std::string& path, Visit visit) {
  const base::FileBytes file = base::FileBytes::open(path);
  std::string_view rest = file.view();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) {
      visit(base::parse_json(rest.substr(0, end), path));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Each splitter cuts the pieces of the one before, as a Sequence of Isolated splits does.
std::vector<size_t> piece_lengths(const Splitters& splitters, const std::string& text) {
  std::vector<Piece> pieces;
  if (!text.empty()) {
    pieces.push_back({0, text.size()});
  }
  for (const auto& splitter : splitters) {
    std::vector<Piece> next;
    for (const Piece& piece : pieces) {
      std::vector<Piece> inner;
      splitter->split(std::string_view(text).substr(piece.begin, piece.end - piece.begin), inner);
      for (const Piece& part : inner) {
        next.push_back({piece.begin + part.begin, piece.begin + part.end});
      }
    }
    pieces = std::move(next);
  }
  std::vector<size_t> lengths;
  for (const Piece& piece : pieces) {
    lengths.push_back(piece.end - piece.begin);
  }
  return lengths;
}

void check_golden(const std::string& name, const Splitters& splitters) {
  const std::string golden = tests::shared_dir() + "/golden/";
  std::map<std::string, std::string> texts;
  for_each_line(golden + "gpt2.jsonl", [&](const base::Json& row) {
    texts[row.at("id").get<std::string>()] = row.at("text").get<std::string>();
  });
  size_t compared = 0;
  for_each_line(golden + "pretok/" + name + ".jsonl", [&](const base::Json& row) {
    const auto id = row.at("id").get<std::string>();
    INFO(name << " " << id);
    const auto text = texts.find(id);
    REQUIRE(text != texts.end());
    const auto expected = row.at("lens").get<std::vector<size_t>>();
    if (piece_lengths(splitters, text->second) != expected) {
      CHECK(piece_lengths(splitters, text->second) == expected);
    }
    ++compared;
  });
  CHECK(compared == 3468);
}

std::vector<std::string> golden_patterns(const std::string& name) {
  const std::string path = tests::shared_dir() + "/golden/pretok/patterns.json";
  const base::FileBytes file = base::FileBytes::open(path);
  return base::parse_json(file.view(), path).at(name).get<std::vector<std::string>>();
}

}  // namespace

TEST_CASE("golden pre-tokens: the scanners give the pieces of the references") {
  if (tests::shared_dir().empty()) {
    return tests::skip("no shared test data");
  }
  check_golden("gpt2", {make_named_splitter("gpt2")});
  check_golden("cl100k", {make_named_splitter("cl100k")});
  check_golden("o200k", {make_named_splitter("o200k")});
  check_golden("qwen3", {make_named_splitter("qwen2")});
}

TEST_CASE("golden pre-tokens: the regex path gives the pieces of the references") {
  if (tests::shared_dir().empty()) {
    return tests::skip("no shared test data");
  }
  const std::string name = GENERATE(as<std::string>(), "gpt2", "cl100k", "o200k", "qwen3", "tekken",
                                    "kimi_k2", "deepseek_v3");
  Splitters splitters;
  for (const std::string& pattern : golden_patterns(name)) {
    splitters.push_back(make_pcre2_splitter(pattern));
  }
  check_golden(name, splitters);
}

TEST_CASE("golden pre-tokens: the names stand for the original pattern strings") {
  if (tests::shared_dir().empty()) {
    return tests::skip("no shared test data");
  }
  CHECK(make_named_splitter("gpt2")->pattern() == golden_patterns("gpt2")[0]);
  CHECK(make_named_splitter("cl100k")->pattern() == golden_patterns("cl100k")[0]);
  CHECK(make_named_splitter("llama3")->pattern() == golden_patterns("cl100k")[0]);
  CHECK(make_named_splitter("o200k")->pattern() == golden_patterns("o200k")[0]);
  CHECK(make_named_splitter("qwen2")->pattern() == golden_patterns("qwen3")[0]);
}
