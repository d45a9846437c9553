// SPDX-License-Identifier: Apache-2.0
// The options of bpe-train: what was typed, and what it comes to.
#ifndef NETCL_TOOLS_TRAIN_TRAIN_OPTIONS_H_
#define NETCL_TOOLS_TRAIN_TRAIN_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/documents.h"
#include "text/bpe_trainer.h"
#include "text/counts_format.h"
#include "train/tokenizer_output.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's name
class Option;
}
namespace netcl::cli {
class ToolApp;
}

namespace netcl::train {

struct TrainOptions {
  cli::DocumentOptions documents;
  text::TrainerOptions trainer;
  std::string vocab_size = "32000";  // checked when the number of special tokens is known
  std::string output;                // empty: standard output, or none with --counts-out
  std::optional<FileFormat> format;  // --format; else by the name of the output
  std::string report_path;
  std::string counts_out;
  std::vector<std::string> from_counts;
  uint64_t dump_every = 0;  // merges; 0 = no dump
  std::string dump_path;
  std::string resume_path;

  // Options of which it matters whether they were given.
  CLI::Option* pattern_option = nullptr;
  CLI::Option* regex_option = nullptr;
  CLI::Option* prefix_space_option = nullptr;
  CLI::Option* special_option = nullptr;
  CLI::Option* vocab_size_option = nullptr;
  CLI::Option* special_place_option = nullptr;
  CLI::Option* min_frequency_option = nullptr;
  CLI::Option* max_token_length_option = nullptr;
  CLI::Option* byte_order_option = nullptr;
  std::vector<CLI::Option*> merge_options;  // that say nothing about counting
};

void declare_options(cli::ToolApp& app, TrainOptions& options);

// Whether a tokenizer is wanted: always but with --counts-out and no -o.
bool wants_tokenizer(const TrainOptions& options);

// Throws UsageError for options that exclude each other, for one file as two results, and for a
// result whose name promises another format. Warns of options without effect.
void check_options(TrainOptions& options);

// With --from-counts: all files that hold counts, the operands among them.
std::vector<std::string> counts_files(const TrainOptions& options);

// Takes over what a counts file was counted with. Throws UsageError for an option that was given
// and says otherwise; `where` names the file.
void take_counts_header(const text::CountsHeader& header, const std::string& where,
                        TrainOptions& options);

// Takes over the options of a dump, --vocab-size only when it was not given. Throws UsageError for
// another option that was given and says otherwise.
void take_dump_options(const text::TrainerOptions& dumped, const std::string& where,
                       TrainOptions& options);

// The format of the tokenizer: --format, else by the name of the output.
FileFormat format_of(const TrainOptions& options);

// All files that the run makes, but for a dump that goes on behind one that is resumed.
std::vector<std::string> output_files(const TrainOptions& options);

// Where dumps go: --dump, else the dump that is resumed, else beside the output. Throws UsageError
// when there is none of these.
std::string dump_path(const TrainOptions& options);

}  // namespace netcl::train

#endif  // NETCL_TOOLS_TRAIN_TRAIN_OPTIONS_H_
