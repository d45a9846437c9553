// SPDX-License-Identifier: Apache-2.0
// Merges of Hugging Face's trainer, read from the shared test data.
#include <set>

#include "support/catch.h"
#include "support/skip.h"
#include "text/bpe_trainer.h"
#include "text/byte_level.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"
#include "vocab_files.h"

using netcl::base::Json;
using netcl::tests::shared_dir;
using netcl::tests::skip;
using netcl::tests::text_of;
using netcl::text::BpeTokenizer;
using netcl::text::BpeTrainer;
using netcl::text::Merge;
using netcl::text::TrainerOptions;
using netcl::text::TrainResult;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// The reference numbered only the bytes it saw, in the order of their printable forms; with all 256
// numbered in that order the ties fall alike.
void check(const std::string& corpus, const std::string& pattern, uint64_t most_merges,
           bool prefix_space = false) {
  if (shared_dir().empty()) {
    skip("no shared test data");
    return;
  }
  const std::string folder = shared_dir() + "/golden/train/";
  const std::string stem = folder + corpus + "." + pattern + (prefix_space ? "_prefix" : "");
  std::vector<std::string> wanted;
  for (std::string line : lines_of(text_of(stem + ".merges.txt"))) {
    while (line.ends_with('\n')) {
      line.pop_back();
    }
    if (!line.starts_with("#version") && !line.empty()) {
      wanted.push_back(line);
    }
  }
  REQUIRE_FALSE(wanted.empty());
  wanted.resize(std::min<size_t>(wanted.size(), most_merges));
  TrainerOptions options;
  options.pattern = pattern == "noregex" ? "none" : pattern;
  options.add_prefix_space = prefix_space;
  options.vocab_size = 256 + wanted.size();
  BpeTrainer trainer(options);
  for (const std::string& line : lines_of(text_of(shared_dir() + "/corpora/" + corpus + ".txt"))) {
    trainer.add_document(line);
  }
  const TrainResult result = trainer.train();
  std::vector<std::string> found;
  for (const Merge& merge : result.tokenizer.parts().merges) {
    found.push_back(netcl::text::to_printable(result.tokenizer.token_bytes(merge.left)) + " " +
                    netcl::text::to_printable(result.tokenizer.token_bytes(merge.right)));
  }
  INFO(stem);
  const auto [ours, theirs] =
      std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end());
  INFO("first difference at merge " << ours - found.begin());
  CHECK(found.size() == wanted.size());
  CHECK((ours == found.end() && theirs == wanted.end()));

  // The tokenizer files cut from these merges are what our own file gives when it is read back.
  const BpeTokenizer again = netcl::text::parse_tokenizer_json(
      netcl::text::to_tokenizer_json(result.tokenizer), "written");
  CHECK(again.parts().merges == result.tokenizer.parts().merges);
  const std::string sample = text_of(shared_dir() + "/corpora/" + corpus + ".txt").substr(0, 20000);
  CHECK(again.encode(sample) == result.tokenizer.encode(sample));
  CHECK(result.tokenizer.decode(again.encode(sample)) == (prefix_space ? " " : "") + sample);
}

constexpr uint64_t kAll = 1000000;

}  // namespace

TEST_CASE("golden merges: small corpus") {
  check("train_small", "gpt2", kAll);
  check("train_small", "cl100k", kAll);
}

TEST_CASE("golden merges: small corpus with a prefix space") {
  check("train_small", "gpt2", kAll, true);
}

TEST_CASE("golden merges: small corpus without a pattern") {
  check("train_small", "noregex", kAll);
}

TEST_CASE("golden merges: ties") {
  check("train_ties", "gpt2", kAll);
  check("train_ties", "noregex", kAll);
}

TEST_CASE("golden merges: english") {
  check("train_en", "gpt2", kAll);
}

TEST_CASE("golden merges: mixed text with the gpt2 pattern") {
  check("train_mixed", "gpt2", kAll);
}

TEST_CASE("golden merges: mixed text with the cl100k pattern") {
  check("train_mixed", "cl100k", kAll);
}

TEST_CASE("golden merges: mixed text with the o200k pattern") {
  check("train_mixed", "o200k", kAll);
}

TEST_CASE("golden merges: the cut vocabularies load and hold the merges") {
  if (shared_dir().empty()) {
    skip("no shared test data");
    return;
  }
  for (const std::string name :
       {"train_en.gpt2.v8192", "train_mixed.cl100k.v8192", "train_mixed.o200k.v1024",
        "train_small.noregex.v512", "train_small.gpt2_prefix.v512"}) {
    const BpeTokenizer tokenizer =
        netcl::text::load_tokenizer(shared_dir() + "/golden/train/" + name + ".tokenizer.json");
    const std::string text = "Hello world! 12345 don't\n\n  \xF0\x9F\x99\x82\xFF\x00x";
    CHECK(tokenizer.vocab_size() == 256 + tokenizer.parts().merges.size());
    const std::string decoded = tokenizer.decode(tokenizer.encode(text));
    CHECK(decoded == (name.find("prefix") == std::string::npos ? text : " " + text));
  }
}
