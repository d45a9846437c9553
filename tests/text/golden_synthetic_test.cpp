// SPDX-License-Identifier: Apache-2.0
// One small tokenizer per feature of tokenizer.json, with ids of Hugging Face `tokenizers`.
#include <algorithm>
#include <filesystem>
#include <set>

#include "support/catch.h"
#include "support/skip.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"
#include "vocab_files.h"

using netcl::base::Json;
using netcl::tests::read_jsonl;
using netcl::tests::shared_dir;
using netcl::text::BpeTokenizer;
using netcl::text::ByteSpan;
using netcl::text::EncodeOptions;
using netcl::text::Encoding;
using netcl::text::SequenceShape;
using netcl::text::SpecialPolicy;

namespace {

using Ids = std::vector<uint32_t>;

// Files that rewrite text or trim offsets. Our spans hold all that a token was made from, or are
// empty for what was put in; Hugging Face gives one character of it, or leaves out white space.
const std::set<std::string> kRewriting = {"added_flags_nfc_lower",
                                          "bytelevel_post_trim",
                                          "nfc",
                                          "nfkc",
                                          "norm_seq",
                                          "post_sequence",
                                          "prefix_space",
                                          "prepend",
                                          "replace_rx",
                                          "replace_str",
                                          "roberta"};

// Spans in characters: the characters that the bytes touch.
std::vector<std::pair<size_t, size_t>> in_characters(const std::string& text,
                                                     const std::vector<ByteSpan>& spans) {
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<uint8_t>(text[at]) & 0xC0) != 0x80) {
      starts.push_back(at);
    }
  }
  starts.push_back(text.size());
  std::vector<std::pair<size_t, size_t>> characters;
  for (const ByteSpan& span : spans) {
    const auto begin = std::prev(std::upper_bound(starts.begin(), starts.end(), span.begin));
    const auto end = std::lower_bound(starts.begin(), starts.end(), span.end);
    characters.emplace_back(begin - starts.begin(), end - starts.begin());
  }
  return characters;
}

// The offsets of Hugging Face, flattened, against our spans; the ids of the template have none.
bool offsets_agree(const std::string& name, const BpeTokenizer& tokenizer, const std::string& text,
                   const EncodeOptions& options, const std::vector<size_t>& offsets) {
  const Encoding encoding = tokenizer.encode_with_spans(text, options);
  const auto ours = in_characters(text, encoding.spans);
  const size_t first = tokenizer.parts().template_prefix.size();
  const size_t last = ours.size() - tokenizer.parts().template_suffix.size();
  if (offsets.size() != 2 * ours.size()) {
    return false;
  }
  for (size_t i = first; i < last; ++i) {
    const auto [begin, end] = ours[i];
    const size_t wanted_begin = offsets[2 * i];
    const size_t wanted_end = offsets[2 * i + 1];
    const bool equal = begin == wanted_begin && end == wanted_end;
    const bool holds = begin <= wanted_begin && wanted_end <= end;
    const bool is_inserted = begin == end && wanted_begin <= begin && end <= wanted_end;
    const bool is_trimmed_away = wanted_begin == wanted_end;
    if (!equal && !(kRewriting.contains(name) && (holds || is_inserted || is_trimmed_away))) {
      return false;
    }
  }
  return true;
}

// All that the file says about the shape of sequences.
SequenceShape shape_of(const BpeTokenizer& tokenizer) {
  const netcl::text::TokenizerParts& parts = tokenizer.parts();
  return SequenceShape(tokenizer, {!parts.template_prefix.empty() || !parts.template_suffix.empty(),
                                   parts.truncation.has_value(), parts.padding.has_value()});
}

}  // namespace

TEST_CASE("golden synthetic: every feature of tokenizer json") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  const std::string suffix = ".tokenizer.json";
  size_t files = 0;
  size_t cases = 0;
  size_t offset_cases = 0;
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
    const BpeTokenizer tokenizer = netcl::text::load_tokenizer(path);
    const BpeTokenizer again =
        netcl::text::parse_tokenizer_json(netcl::text::to_tokenizer_json(tokenizer), "written");
    const SequenceShape shape = shape_of(tokenizer);
    const SequenceShape shape_again = shape_of(again);
    for (const Json& row : read_jsonl(stem + ".jsonl")) {
      if (row.contains("pair")) {
        continue;  // two texts in one call, which is no call of ours
      }
      ++cases;
      const std::string text = row["text"].get<std::string>();
      EncodeOptions options;
      options.special = SpecialPolicy::kAllow;
      Encoding encoding;
      encoding.ids = tokenizer.encode(text, options);
      shape.apply(encoding, text.size());
      shape.pad(encoding, encoding.ids.size(), text.size());
      Encoding of_written;
      of_written.ids = again.encode(text, options);
      shape_again.apply(of_written, text.size());
      shape_again.pad(of_written, of_written.ids.size(), text.size());
      const Ids& ids = encoding.ids;
      if (of_written.ids != ids) {
        differing += row["id"].get<std::string>() + " when written and read again\n";
      }
      const Ids wanted = row["ids"].get<Ids>();
      if (ids != wanted) {
        differing += row["id"].get<std::string>() + "\n";
      }
      options.apply_template = true;
      const bool is_shaped = tokenizer.parts().truncation || tokenizer.parts().padding;
      if (!is_shaped && row.contains("offsets")) {
        ++offset_cases;
        if (!offsets_agree(name, tokenizer, text, options,
                           row["offsets"].get<std::vector<size_t>>())) {
          differing += row["id"].get<std::string>() + " offsets\n";
        }
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
  CHECK(offset_cases > 1000);
}
