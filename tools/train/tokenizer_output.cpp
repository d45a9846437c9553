// SPDX-License-Identifier: Apache-2.0
#include "train/tokenizer_output.h"

#include "cli/merges_directory.h"
#include "cli/read_back.h"

namespace netcl::train {

std::vector<std::string> tokenizer_files(const std::string& path, FileFormat format) {
  return format == FileFormat::kMerges ? cli::merges_directory_files(path)
                                       : std::vector<std::string>{path};
}

TokenizerOutput::TokenizerOutput(const std::string& path, FileFormat format)
    : path_(path), format_(format) {
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
  file_->write(format_ == FileFormat::kJson ? text::to_tokenizer_json(tokenizer)
                                            : text::to_tiktoken(tokenizer));
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
