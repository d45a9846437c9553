// SPDX-License-Identifier: Apache-2.0
// One small tokenizer per feature of tokenizer.json, with ids of Hugging Face `tokenizers`.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "support/catch.h"
#include "support/skip.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"
#include "vocab_files.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::tests::read_jsonl;
using netcl::tests::shared_dir;
using netcl::text::BpeTokenizer;
using netcl::text::EncodeOptions;
using netcl::text::SpecialPolicy;

namespace {

using Ids = std::vector<uint32_t>;

// Files that are refused, and the words that the message must hold.
const std::map<std::string, std::string> kRefused = {
    {"replace_rx", "normalizer.pattern: field 'Regex'"},
    {"unicode_scripts", "pre_tokenizer[0]: type 'UnicodeScripts'"},
};

// The file cuts or fills the ids of a batch, which is not what the ids of a text are.
const std::set<std::string> kShaped = {"padding", "truncation", "truncation_left"};

}  // namespace

TEST_CASE("golden synthetic: every feature of tokenizer json or a refusal by field") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  const std::string suffix = ".tokenizer.json";
  size_t files = 0;
  size_t cases = 0;
  std::string differing;
  for (const auto& entry :
       std::filesystem::directory_iterator(shared_dir() + "/golden/synthetic")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(suffix)) {
      continue;
    }
    ++files;
    const std::string stem = path.substr(0, path.size() - suffix.size());
    const std::string name = std::filesystem::path(stem).filename().string();
    CAPTURE(name);
    const auto refused = kRefused.find(name);
    if (refused != kRefused.end()) {
      CHECK_THROWS_WITH(netcl::text::load_tokenizer(path), Catch::Contains(refused->second));
      continue;
    }
    const BpeTokenizer tokenizer = netcl::text::load_tokenizer(path);
    const BpeTokenizer again =
        netcl::text::parse_tokenizer_json(netcl::text::to_tokenizer_json(tokenizer), "written");
    for (const Json& row : read_jsonl(stem + ".jsonl")) {
      if (row.contains("pair")) {
        continue;  // two texts in one call, which is no call of ours
      }
      ++cases;
      const std::string text = row["text"].get<std::string>();
      EncodeOptions options;
      options.special = SpecialPolicy::kAllow;
      options.apply_template = true;
      Ids ids = tokenizer.encode(text, options);
      if (again.encode(text, options) != ids) {
        differing += row["id"].get<std::string>() + " when written and read again\n";
      }
      const Ids wanted = row["ids"].get<Ids>();
      if (kShaped.contains(name)) {
        const size_t common = std::min(ids.size(), wanted.size());
        ids = name == "truncation_left"
                  ? Ids(ids.end() - static_cast<std::ptrdiff_t>(common), ids.end())
                  : Ids(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(common));
        ids.insert(ids.end(), wanted.begin() + static_cast<std::ptrdiff_t>(common), wanted.end());
      }
      if (ids != wanted) {
        differing += row["id"].get<std::string>() + "\n";
      }
      if (row.contains("ids_nospecial")) {
        options.apply_template = false;
        if (tokenizer.encode(text, options) != row["ids_nospecial"].get<Ids>()) {
          differing += row["id"].get<std::string>() + " without template\n";
        }
      }
    }
  }
  INFO("different ids:\n" << differing);
  CHECK(differing.empty());
  CHECK(files == 49);
  CHECK(cases > 1000);
}
