// SPDX-License-Identifier: Apache-2.0
#include "train/tokenizer_output.h"

#include <utility>

#include "base/error.h"
#include "cli/merges_directory.h"
#include "cli/read_back.h"
#include "text/special_names.h"

namespace netcl::train {

namespace {

// Of a format that is one file.
std::string file_text(const text::BpeTokenizer& tokenizer, FileFormat format) {
  return format == FileFormat::kJson ? text::to_tokenizer_json(tokenizer)
                                     : text::to_tiktoken(tokenizer);
}

// What does not depend on the merges shows when there are none.
void check_format(FileFormat format, text::TrainerOptions options) {
  if (format != FileFormat::kTiktoken) {
    if (const std::optional<std::string> wrong = describe_ambiguous_special(options)) {
      throw base::UsageError(*wrong);
    }
  }
  options.vocab_size = text::min_vocab_size(options.specials.size());
  options.memory_limit = 0;
  const text::BpeTokenizer bytes = text::BpeTrainer(std::move(options)).train().tokenizer;
  if (format == FileFormat::kMerges) {
    text::to_vocab_merges(bytes);
  } else {
    file_text(bytes, format);
  }
}

}  // namespace

std::optional<std::string> describe_ambiguous_special(const text::TrainerOptions& options) {
  const std::optional<text::AmbiguousSpecial> found = text::find_ambiguous_special(options);
  if (!found) {
    return std::nullopt;
  }
  return "special token " + base::quote(found->name) + ": a token " + base::quote(found->bytes) +
         " that may be learned is written like it in tokenizer.json and vocab.json; a name in "
         "ASCII, as '<|name|>', is like no other";
}

std::vector<std::string> tokenizer_files(const std::string& path, FileFormat format) {
  return format == FileFormat::kMerges ? cli::merges_directory_files(path)
                                       : std::vector<std::string>{path};
}

TokenizerOutput::TokenizerOutput(const std::string& path, FileFormat format,
                                 text::TrainerOptions options)
    : path_(path), format_(format) {
  check_format(format_, std::move(options));
  if (format_ == FileFormat::kMerges) {
    cli::check_merges_directory(path_);
  } else {
    file_.emplace(path_);
  }
}

void TokenizerOutput::write(const text::BpeTokenizer& tokenizer) {
  if (format_ != FileFormat::kJson) {
    cli::warn_of_normalizer_of_name(tokenizer, path_);
  }
  if (format_ == FileFormat::kMerges) {
    files_ = text::to_vocab_merges(tokenizer);
    return;
  }
  file_->write(file_text(tokenizer, format_));
  file_->flush();
}

void TokenizerOutput::commit(std::span<base::OutputFile* const> others) {
  if (format_ == FileFormat::kMerges) {
    cli::write_merges_directory(path_, files_, others);
    return;
  }
  std::vector<base::OutputFile*> all = {&*file_};
  all.insert(all.end(), others.begin(), others.end());
  base::commit_all(all);
}

}  // namespace netcl::train
