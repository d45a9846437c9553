// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_run.h"

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "cli/documents.h"
#include "cli/merges_directory.h"
#include "cli/read_back.h"
#include "text/tokenizer_compare.h"
#include "text/tokenizer_parts.h"

namespace netcl::cli {

namespace {

namespace fs = std::filesystem;

// Bytes in the target format and what reading them back gives.
struct Converted {
  std::string bytes;        // kJson, kTiktoken
  text::VocabMerges files;  // kMerges
  text::BpeTokenizer tokenizer;
};

Converted convert(const text::BpeTokenizer& tokenizer, const ConvertOptions& options,
                  const text::TokenizerFileOptions& read_back) {
  const std::string where = base::display_path(options.output);
  switch (options.target) {
    case ConvertTarget::kTiktoken: {
      std::string bytes = text::to_tiktoken(tokenizer);
      text::BpeTokenizer again = text::parse_tiktoken(bytes, where, read_back);
      return {std::move(bytes), {}, std::move(again)};
    }
    case ConvertTarget::kMerges: {
      text::VocabMerges files = text::to_vocab_merges(tokenizer);
      text::BpeTokenizer again =
          text::parse_vocab_merges(files.vocab_json, files.merges_txt, where + "/vocab.json",
                                   where + "/merges.txt", read_back);
      return {{}, std::move(files), std::move(again)};
    }
    case ConvertTarget::kJson:
      break;
  }
  std::string bytes = text::to_tokenizer_json(tokenizer);
  text::BpeTokenizer again = text::parse_tokenizer_json(bytes, where);
  return {std::move(bytes), {}, std::move(again)};
}

// Options that bring back what the target does not hold. Throws for what none brings back.
text::TokenizerFileOptions read_back_options(const text::BpeTokenizer& tokenizer,
                                             ConvertTarget target) {
  switch (target) {
    case ConvertTarget::kTiktoken:
      return text::options_to_read_back(tokenizer, ".tiktoken");
    case ConvertTarget::kMerges:
      return text::options_to_read_back(tokenizer, "vocab.json and merges.txt");
    case ConvertTarget::kJson:
      break;
  }
  return {};
}

// Why the merge rule of the target would give other ids, before anything is made.
std::optional<std::string> rule_difference(const text::BpeTokenizer& tokenizer,
                                           ConvertTarget target) {
  switch (target) {
    case ConvertTarget::kTiktoken:
      return text::tiktoken_difference(tokenizer);
    case ConvertTarget::kMerges:
      return text::vocab_merges_difference(tokenizer);
    case ConvertTarget::kJson:
      break;
  }
  return std::nullopt;
}

using Specials = std::vector<std::pair<std::string, uint32_t>>;

std::string specials_json(const Specials& specials) {
  std::string text = "{";
  const char* comma = "\n";
  for (const auto& [content, id] : specials) {
    text += comma + base::to_text(base::Json(content)) + ":" + std::to_string(id);
    comma = ",\n";
  }
  return text + "\n}\n";
}

// Says which options bring back what the target does not hold.
void warn_of_what_is_left_out(const text::BpeTokenizer& tokenizer, const ConvertOptions& options,
                              const text::TokenizerFileOptions& read_back) {
  if (options.target == ConvertTarget::kJson) {
    return;
  }
  const std::string with = read_back_text(read_back, options.specials_out_path);
  const text::TokenizerParts& parts = tokenizer.parts();
  std::string lost = parts.normalizer.empty() ? "split pattern" : "split pattern, normalizer";
  lost += parts.added_tokens.empty() ? "" : " and special tokens";
  spdlog::warn("{}: the format does not hold the {}; read it with {}", options.output, lost, with);
  if (!parts.template_prefix.empty() || !parts.template_suffix.empty()) {
    spdlog::warn(
        "{}: the format does not hold the post-processor's template and no option brings "
        "it back",
        options.output);
  }
}

}  // namespace

std::optional<ConvertTarget> target_of_name(const std::string& output) {
  std::error_code error;
  if (output.ends_with('/') || fs::is_directory(output, error)) {
    return ConvertTarget::kMerges;
  }
  if (base::has_extension(output, ".json")) {
    return ConvertTarget::kJson;
  }
  if (base::has_extension(output, ".tiktoken")) {
    return ConvertTarget::kTiktoken;
  }
  return std::nullopt;
}

std::optional<std::string> convert_tokenizer(const text::BpeTokenizer& tokenizer,
                                             const ConvertOptions& options, base::ThreadPool& pool,
                                             const base::ProgressFn& progress) {
  // An unwritable file or an unreadable text ends the run before the work.
  const bool is_file = options.target != ConvertTarget::kMerges;
  std::optional<base::OutputFile> out;
  if (is_file) {
    out.emplace(options.output);
  } else {
    check_merges_directory(options.output);
  }
  std::optional<base::OutputFile> specials_out;
  if (!options.specials_out_path.empty()) {
    specials_out.emplace(options.specials_out_path);
  }
  std::optional<base::OutputFile> info;
  if (!options.info.empty()) {
    info.emplace("-");
  }
  std::vector<text::NamedText> texts;
  std::optional<base::FileBytes> verify;
  if (!options.verify_path.empty()) {
    verify.emplace(base::FileBytes::open_large(options.verify_path, base::kMostPipedBytes));
    const std::string name = base::display_path(options.verify_path);
    refuse_compressed(verify->view(), name, "");
    texts.push_back({name, verify->view()});
  }

  const text::TokenizerFileOptions read_back = read_back_options(tokenizer, options.target);
  if (specials_out && options.target == ConvertTarget::kJson) {
    throw base::UsageError(
        "--specials-out: a tokenizer.json holds its special tokens; leave it out");
  }
  Specials specials;
  if (specials_out) {
    specials = read_back.specials ? *read_back.specials
                                  : text::plain_specials(tokenizer, "a specials file");
  }
  if (std::optional<std::string> difference = rule_difference(tokenizer, options.target)) {
    return difference;
  }
  const Converted converted = convert(tokenizer, options, read_back);
  if (std::optional<std::string> difference =
          text::first_difference(tokenizer, converted.tokenizer, texts,
                                 options.target == ConvertTarget::kJson, pool, progress)) {
    return difference;
  }
  std::vector<base::OutputFile*> files;
  if (specials_out) {
    specials_out->write(specials_json(specials));
    files.push_back(&*specials_out);
  }
  if (info) {
    info->write(options.info);
    files.push_back(&*info);
  }
  if (is_file) {
    out->write(converted.bytes);
    files.push_back(&*out);
    base::commit_all(files);
  } else {
    write_merges_directory(options.output, converted.files, files);
  }
  warn_of_what_is_left_out(tokenizer, options, read_back);
  return std::nullopt;
}

}  // namespace netcl::cli
