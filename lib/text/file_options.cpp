// SPDX-License-Identifier: Apache-2.0
#include "text/file_options.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "text/known_models.h"

namespace netcl::text {

using base::FormatError;
using base::quote;
using base::UsageError;

namespace {

// {"<|endoftext|>": 50256, ...}
std::vector<AddedToken> read_specials(const std::string& path) {
  const base::FileBytes file = base::FileBytes::open(path);
  const std::string where = base::display_path(path);
  const base::Json json = base::parse_json(file.view(), where);
  if (!json.is_object()) {
    throw FormatError(where + ": expected an object of special tokens and ids, found " +
                      json.type_name());
  }
  std::vector<AddedToken> specials;
  for (const auto& [name, id] : json.items()) {
    if (name.empty() || !id.is_number_unsigned() || id.get<uint64_t>() >= kMaxIdCount) {
      throw FormatError(
          where + ": special token " + quote(name) +
          (name.empty() ? " is empty"
                        : ": the id must be a whole number below " + std::to_string(kMaxIdCount)));
    }
    specials.push_back({.content = name, .id = id.get<uint32_t>()});
  }
  return specials;
}

// The patterns of a chain that does nothing but isolate the matches of one after the other and take
// bytes then; empty when there is more to it. A known pattern leaves no gaps, so keeping the
// matches alone (Removed, inverted) is isolating them.
std::vector<std::string> isolated_patterns(const PreTokenizer& pre_tokenizer) {
  if (const std::optional<std::string> single = pre_tokenizer.single_pattern()) {
    return {*single};
  }
  const std::vector<PreTokenizerStep>& steps = pre_tokenizer.steps();
  if (steps.empty()) {
    return {};
  }
  const PreTokenizerStep& last = steps.back();
  if (!last.byte_level || last.add_prefix_space || last.splitter != nullptr) {
    return {};
  }
  std::vector<std::string> patterns;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    const PreTokenizerStep& step = steps[i];
    if (step.byte_level || step.splitter == nullptr) {
      return {};
    }
    const std::string& pattern = step.splitter->pattern();
    const bool isolates = step.definition == make_split_step(step.splitter).definition;
    const bool keeps_matches =
        !step.splitter->name().empty() &&
        step.definition ==
            make_split_step(pattern, false, SplitBehavior::kRemoved, true).definition;
    if (!isolates && !keeps_matches) {
      return {};
    }
    patterns.push_back(pattern);
  }
  return patterns;
}

bool by_id_and_content(const AddedToken& a, const AddedToken& b) {
  return std::tie(a.id, a.content) < std::tie(b.id, b.content);
}

// Whether it matters which added tokens are looked for after normalizing: not without a normalizer,
// unless some are and some are not (those that are not come first).
bool normalized_matters(const TokenizerParts& parts) {
  const auto count = std::count_if(parts.added_tokens.begin(), parts.added_tokens.end(),
                                   [](const AddedToken& token) { return token.normalized; });
  return !parts.normalizer.empty() ||
         (count != 0 && static_cast<size_t>(count) != parts.added_tokens.size());
}

// The same tokens in any order.
bool same_tokens(std::vector<AddedToken> known, const TokenizerParts& parts) {
  std::vector<AddedToken> added = parts.added_tokens;
  std::sort(known.begin(), known.end(), by_id_and_content);
  std::sort(added.begin(), added.end(), by_id_and_content);
  if (!normalized_matters(parts)) {
    for (AddedToken& token : added) {
      token.normalized = false;
    }
  }
  return known == added;
}

}  // namespace

std::vector<std::pair<std::string, uint32_t>> plain_specials(const BpeTokenizer& tokenizer,
                                                             const std::string& format) {
  const TokenizerParts& parts = tokenizer.parts();
  std::vector<std::pair<std::string, uint32_t>> specials;
  for (const AddedToken& token : parts.added_tokens) {
    const char* flag = !token.special                                  ? "special = false"
                       : token.single_word                             ? "single_word = true"
                       : token.lstrip                                  ? "lstrip = true"
                       : token.rstrip                                  ? "rstrip = true"
                       : token.normalized && normalized_matters(parts) ? "normalized = true"
                                                                       : nullptr;
    if (flag != nullptr) {
      throw UsageError(parts.where + ": cannot be written as " + format + ": the added token " +
                       quote(token.content) + " has " + flag +
                       ", which neither the format nor a specials file can say");
    }
    specials.emplace_back(token.content, token.id);
  }
  return specials;
}

std::string specials_advice(const TokenizerFileOptions& options) {
  if (options.pattern_name.empty() || options.specials || !options.specials_path.empty()) {
    return "";
  }
  return "; " + options.pattern_name + " brings this one; where the file is another model's, " +
         options.call_specials + " gives its own special tokens ({} for none)";
}

void apply_file_options(const TokenizerFileOptions& options, const std::string& kind,
                        TokenizerParts& parts) {
  if (options.pattern_name.empty() == options.pattern_regex.empty()) {
    throw UsageError(parts.where + ": " + kind + " does not carry its split pattern; give " +
                     (options.pattern_name.empty() ? options.call_name + " or " + options.call_regex
                                                   : "either " + options.call_name + " or " +
                                                         options.call_regex + ", not both"));
  }
  if (options.pattern_regex.empty()) {
    KnownModel model = get_known_model(options.pattern_name);
    parts.pre_tokenizer = make_pre_tokenizer(model);
    parts.normalizer = make_normalizer(model);
    parts.added_tokens = std::move(model.specials);
  } else {
    parts.pre_tokenizer = PreTokenizer({make_split_step(make_regex_splitter(options.pattern_regex)),
                                        make_byte_level_step(false, false)});
  }
  if (options.specials) {
    parts.added_tokens.clear();
    for (const auto& [content, id] : *options.specials) {
      parts.added_tokens.push_back({.content = content, .id = id});
    }
  } else if (!options.specials_path.empty()) {
    parts.added_tokens = read_specials(options.specials_path);
  }
}

TokenizerFileOptions options_to_read_back(const BpeTokenizer& tokenizer,
                                          const std::string& format) {
  const TokenizerParts& parts = tokenizer.parts();
  if (parts.characters) {
    throw UsageError(parts.where + ": cannot be written as " + format +
                     ": its symbols are characters, not bytes");
  }
  const std::vector<std::string> patterns = isolated_patterns(parts.pre_tokenizer);
  if (patterns.empty()) {
    throw UsageError(parts.where + ": cannot be written as " + format +
                     ": its pre-tokenizer is not one split pattern");
  }
  TokenizerFileOptions options;
  for (const std::string_view name : known_model_names()) {
    const KnownModel model = get_known_model(name);
    if (isolated_patterns(make_pre_tokenizer(model)) != patterns ||
        make_normalizer(model).steps() != parts.normalizer.steps()) {
      continue;
    }
    if (same_tokens(model.specials, parts)) {
      options.pattern_name = name;
      return options;
    }
    if (options.pattern_name.empty()) {
      options.pattern_name = name;
    }
  }
  // Without added tokens a name would bring its own.
  const bool regex_is_enough =
      parts.added_tokens.empty() && parts.normalizer.empty() && patterns.size() == 1;
  if (regex_is_enough) {
    options = {};
    options.pattern_regex = patterns[0];
    return options;
  }
  if (options.pattern_name.empty()) {
    if (!parts.normalizer.empty()) {
      throw UsageError(parts.where + ": cannot be written as " + format +
                       ": that format has no normalizer");
    }
    if (patterns.size() > 1) {
      throw UsageError(parts.where + ": cannot be written as " + format +
                       ": its pre-tokenizer is not one split pattern");
    }
    options.pattern_regex = patterns[0];
  }
  options.specials = plain_specials(tokenizer, format);
  return options;
}

}  // namespace netcl::text
