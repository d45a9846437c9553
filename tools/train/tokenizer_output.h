// SPDX-License-Identifier: Apache-2.0
// The trained tokenizer as a result: one file, or a directory of two.
#ifndef NETCL_TOOLS_TRAIN_TOKENIZER_OUTPUT_H_
#define NETCL_TOOLS_TRAIN_TOKENIZER_OUTPUT_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "text/bpe_trainer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace netcl::train {

enum class FileFormat { kJson, kTiktoken, kMerges };

// The files that a tokenizer under this path is.
std::vector<std::string> tokenizer_files(const std::string& path, FileFormat format);

// What is wrong with a special token that formats with special tokens cannot hold beside every
// merge (text::find_ambiguous_special); nothing when there is none.
std::optional<std::string> describe_ambiguous_special(const text::TrainerOptions& options);

class TokenizerOutput {
 public:
  // For a tokenizer that is trained with `options`. Throws what would keep it from being written,
  // so that no work is lost: IoError, UsageError.
  TokenizerOutput(const std::string& path, FileFormat format, text::TrainerOptions options);

  // Writes the tokenizer beside its final name. Throws IoError; UsageError for merges that a
  // merges.txt cannot hold.
  void write(const text::BpeTokenizer& tokenizer);
  // Makes it visible, together with other results of the run (base::commit_all). Throws IoError.
  void commit(std::span<base::OutputFile* const> others);

 private:
  std::string path_;
  FileFormat format_;
  std::optional<base::OutputFile> file_;  // of the formats that are one file
  text::VocabMerges files_;
};

}  // namespace netcl::train

#endif  // NETCL_TOOLS_TRAIN_TOKENIZER_OUTPUT_H_
