// SPDX-License-Identifier: Apache-2.0
#include "text/special_names.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "text/pre_splitter.h"
#include "text/tokenizer_file.h"

using netcl::base::Rng;
using netcl::base::UsageError;
using netcl::text::are_always_split;
using netcl::text::BpeTrainer;
using netcl::text::find_ambiguous_special;
using netcl::text::Piece;
using netcl::text::TrainerOptions;

namespace {

TrainerOptions options_for(const std::string& pattern, std::vector<std::string> specials) {
  TrainerOptions options;
  options.pattern = pattern;
  options.specials = std::move(specials);
  options.vocab_size = 400;
  return options;
}

std::string random_text(Rng& rng, const std::vector<std::string>& parts, uint64_t most) {
  std::string text;
  for (uint64_t i = 1 + rng.below(most); i > 0; --i) {
    text += parts[rng.below(parts.size())];
  }
  return text;
}

// Whether a tokenizer.json can hold what a text teaches.
bool can_be_written(const TrainerOptions& options, const std::string& text) {
  BpeTrainer trainer(options);
  trainer.add_document(text);
  try {
    to_tokenizer_json(std::move(trainer).train().tokenizer);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("special names: those that a learned token may be written like are found") {
  const auto found = [](const TrainerOptions& options) {
    const auto special = find_ambiguous_special(options);
    return special ? special->name + " = " + special->bytes : "";
  };
  const auto one = [&](const std::string& name) { return found(options_for("cl100k", {name})); };
  CHECK(one("\u0120the") == "\u0120the =  the");
  CHECK(one("\u00E9\u00E9") == "\u00E9\u00E9 = \xE9\xE9");
  CHECK(one("<\u00E9>") == "<\u00E9> = <\xE9>");
  for (const std::string name :
       {"<|endoftext|>", "[PAD]", "<s>", "</s>", "ab", "<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>",
        "\u2039\u00E9>", "\u0120 the", "<|\u00E9tape|>", "[FIN_DE_\u00C9TAPE]"}) {
    INFO(name);
    CHECK(one(name).empty());
  }
  // What is never in one piece with a known pattern may be so with another.
  for (const std::string pattern : {"gpt2", "o200k", "none"}) {
    CHECK(found(options_for(pattern, {"<|\u00E9tape|>"})).empty() == (pattern != "none"));
  }
  TrainerOptions options = options_for("cl100k", {"<|\u00E9tape|>"});
  options.pattern_regex = ".*";
  CHECK(!found(options).empty());
  // The text of other special tokens is cut out, whatever their order.
  CHECK(found(options_for("gpt2", {"<s>", "\u0120the", "he"})).empty());
  CHECK(found(options_for("gpt2", {"<s>", "\u0120the", "her"})) == "\u0120the =  the");
  options = options_for("gpt2", {"\u0120t", " t"});
  CHECK(found(options).empty());
  options.add_prefix_space = true;
  CHECK(found(options) == "\u0120t =  t");
  options = options_for("gpt2", {"\u0120the"});
  options.max_token_length = 3;
  CHECK(found(options).empty());
  options.max_token_length = 4;
  CHECK(!found(options).empty());
}

TEST_CASE("special names: what is always split is split whatever stands around it") {
  CHECK_FALSE(are_always_split("the"));
  CHECK_FALSE(are_always_split("don't"));
  CHECK_FALSE(are_always_split(" <|>"));
  CHECK_FALSE(are_always_split("t\u00E9"));
  CHECK(are_always_split("a|"));
  const std::vector<std::string> around = {"",  "a",  "Z",  "1",      "'",      "'s",     " ",
                                           "|", "\n", "\r", "\u00E9", "\u0301", "\u4E00", "\xE9"};
  std::vector<Piece> pieces;
  for (const std::string_view pattern : netcl::text::splitter_names()) {
    const auto splitter = netcl::text::make_named_splitter(pattern);
    for (const char first : {'a', 'Z', '0', '9'}) {
      for (char second = 0; second < 127; ++second) {
        const std::string middle = {first, second};
        if (!are_always_split(middle)) {
          continue;
        }
        for (const std::string& before : around) {
          for (const std::string& after : around) {
            const std::string text = before + middle + after;
            pieces.clear();
            splitter->split(text, pieces);
            INFO(pattern << ": " << netcl::base::quote(text));
            REQUIRE(std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
              return piece.end == before.size() + 1;
            }));
          }
        }
      }
    }
  }
}

TEST_CASE("special names: a tokenizer without ambiguous ones can always be written") {
  const std::vector<std::string> name_parts = {"\u0120", "\u00E9", "t", "h", "|", " ", "\u4E00"};
  const std::vector<std::string> text_parts = {" ", " ", "\xE9",   "t", "t",
                                               "h", "|", "\u0120", "\n"};
  Rng rng(11);
  int ambiguous = 0;
  int lost = 0;
  int harmless = 0;
  for (int round = 0; round < 4000; ++round) {
    TrainerOptions options = options_for(rng.below(2) == 0 ? "gpt2" : "none", {});
    options.add_prefix_space = rng.below(2) == 1;
    options.max_token_length = rng.below(3) == 0 ? 3 : 0;
    const uint64_t special_count = 1 + rng.below(3);
    while (options.specials.size() < special_count) {
      const std::string name = random_text(rng, name_parts, 2) + random_text(rng, name_parts, 1);
      if (std::find(options.specials.begin(), options.specials.end(), name) ==
          options.specials.end()) {
        options.specials.push_back(name);
      }
    }
    const bool is_ambiguous = find_ambiguous_special(options).has_value();
    const bool is_written = can_be_written(options, random_text(rng, text_parts, 60));
    INFO("round " << round << ": " << options.specials.front());
    REQUIRE((is_written || is_ambiguous));
    ambiguous += is_ambiguous ? 1 : 0;
    harmless += is_ambiguous ? 0 : 1;
    lost += is_written ? 0 : 1;
  }
  CHECK(lost > 200);
  CHECK(ambiguous > lost);
  CHECK(harmless > 500);
}
