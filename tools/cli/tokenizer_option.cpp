// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenizer_option.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "cli/tool_app.h"
#include "text/tokenizer_parts.h"

namespace netcl::cli {

std::string join_names(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) {
    joined += (joined.empty() ? "" : ", ") + std::string(name);
  }
  return joined;
}

void add_tokenizer_options(ToolApp& app, TokenizerOption& option) {
  option.file.call_name = "--pattern NAME";
  option.file.call_regex = "--pattern-regex RE";
  option.file.call_specials = "--specials FILE";
  app.add_text("-t,--tokenizer", option.path, "TOKENIZER",
               "tokenizer.json, vocab.json (merges.txt beside it), a directory that holds them, "
               "tekken.json, or a .tiktoken file")
      ->required()
      ->group("Tokenizer");
  app.add_text("--pattern", option.file.pattern_name, "NAME",
               "Split pattern and special tokens of a .tiktoken file or a vocab.json: " +
                   join_names(text::known_model_names()))
      ->group("Tokenizer");
  app.add_text("--pattern-regex", option.file.pattern_regex, "RE",
               "Any other split pattern for such a file, in the syntax of tokenizer.json; text\n"
               "that it does not match becomes pieces of its own. A search may take 5 s and\n"
               "5 s a MB of a text; what syntax is refused: see tools/README.md")
      ->group("Tokenizer");
  app.add_text(
         "--specials", option.file.specials_path, "FILE",
         "JSON object of special tokens and ids for such a file, in place of those of NAME; {} for "
         "none")
      ->group("Tokenizer");
}

std::vector<std::string> tokenizer_inputs(const TokenizerOption& option) {
  namespace fs = std::filesystem;
  std::vector<std::string> files = {option.path, option.file.specials_path};
  std::error_code ignored;
  const fs::path path = option.path;
  if (fs::is_directory(path, ignored)) {
    for (const char* name : {"tokenizer.json", "vocab.json", "merges.txt"}) {
      files.push_back((path / name).string());
    }
  } else if (path.extension() == ".json") {
    files.push_back(text::merges_path_of(option.path));
  }
  return files;
}

namespace {

// Tokens that nothing makes are the mark of a merges.txt that was cut short.
void warn_of_orphans(const text::TokenizerParts& parts) {
  std::vector<bool> made(parts.vocabulary.id_limit());
  for (const text::Merge& merge : parts.merges) {
    made[merge.result] = true;
  }
  for (const text::AddedToken& token : parts.added_tokens) {
    if (token.id < made.size()) {
      made[token.id] = true;
    }
  }
  size_t orphans = 0;
  for (uint32_t id = 0; id < made.size(); ++id) {
    orphans += parts.vocabulary.bytes(id).size() > 1 && !made[id] ? 1 : 0;
  }
  if (orphans > 0) {
    spdlog::warn("{}: {} tokens of the vocabulary are made by no merge; is merges.txt whole?",
                 parts.where, orphans);
  }
}

// A named model brings its special tokens to a vocabulary of the user's own too, with ids for which
// a model would need that many rows.
void warn_of_distant_specials(const text::TokenizerParts& parts,
                              const text::TokenizerFileOptions& options) {
  constexpr uint32_t kFar = 256;  // gaps of real vocabularies are smaller
  if (options.pattern_name.empty() || !options.specials_path.empty() ||
      parts.added_tokens.empty()) {
    return;
  }
  const auto nearest = std::min_element(
      parts.added_tokens.begin(), parts.added_tokens.end(),
      [](const text::AddedToken& a, const text::AddedToken& b) { return a.id < b.id; });
  if (nearest->id > parts.vocabulary.id_limit() + kFar) {
    spdlog::warn(
        "{}: ids end at {}, and --pattern {} brings special tokens with ids from {} on; --specials "
        "FILE gives the vocabulary's own ({{}} for none)",
        parts.where, parts.vocabulary.id_limit() - 1, options.pattern_name, nearest->id);
  }
}

}  // namespace

text::TokenizerFile load_tokenizer_file(const TokenizerOption& option, bool stdin_is_input) {
  if (option.path == "-" && stdin_is_input) {
    throw base::UsageError("-t -: standard input is read for the input already");
  }
  text::TokenizerFile file = text::load_tokenizer_file(option.path, option.file);
  spdlog::info("{}: {}, {} tokens, ids below {}", base::quote(option.path, 200),
               text::format_name(file.format), file.tokenizer.vocab_size(),
               file.tokenizer.id_limit());
  if (file.format == text::TokenizerFormat::kVocabMerges) {
    warn_of_orphans(file.tokenizer.parts());
  }
  warn_of_distant_specials(file.tokenizer.parts(), option.file);
  return file;
}

text::BpeTokenizer load_tokenizer(const TokenizerOption& option, bool stdin_is_input) {
  return load_tokenizer_file(option, stdin_is_input).tokenizer;
}

}  // namespace netcl::cli
