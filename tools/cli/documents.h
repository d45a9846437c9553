// SPDX-License-Identifier: Apache-2.0
// Reading text for the tokenizer tools: whole files, lines or JSON lines, one document at a time or
// a batch of those that have arrived, so that an endless pipe is served with bounded memory.
#ifndef NETCL_TOOLS_CLI_DOCUMENTS_H_
#define NETCL_TOOLS_CLI_DOCUMENTS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace netcl::cli {

class ToolApp;

// What one document is: a file (or all of standard input), a line, or the text field of a JSON
// line.
enum class DocumentUnit { kFile, kLine, kJsonLine };

struct DocumentOptions {
  std::vector<std::string> files;  // "-" or none: standard input
  bool lines = false;              // --lines
  bool jsonl = false;              // --jsonl
  std::string text_field;          // --text-field; empty: "text"
  bool raw = false;                // --raw: compressed bytes are text like any other
  bool keep_line_ends = false;     // a line keeps its LF (training), else the LF is cut off
  bool take_directories = false;   // all regular files below a directory, sorted by path
  // Longer ones are refused: a line, or a stretch of a pipe that find_cut cannot cut ...
  uint64_t most_line_bytes = base::kMostParsedBytes;
  // ... and a document that has to be whole and comes from a pipe.
  uint64_t most_piped_bytes = base::kMostPipedBytes;
};

// Declares FILES, --lines, --jsonl, --text-field and --raw. `files_help` is the text for FILES.
void add_document_options(ToolApp& app, DocumentOptions& options, const std::string& files_help);

// One document. The views live until the callback that gets it returns.
struct Document {
  std::string_view text;
  std::string where;          // for messages: "<stdin>", "a.txt", "a.jsonl:12"
  uint64_t where_offset = 0;  // byte of the file at which `text` begins (0 for a JSON line)
  std::string id_json;        // the line's "id" as it stands there; empty when it has none
  bool begins = true;         // false: goes on where the document before it stopped
  bool ends = true;           // false: the next document goes on with it
  bool is_mapped = false;     // it lies in a file's mapping (base::drop_mapped_pages)
};

// Documents that are there now, in order; `read_bytes` counts the bytes of all input so far, and
// `interactive` tells that more may take a while (a pipe), so results should be sent on.
struct DocumentBatch {
  std::span<const Document> documents;
  uint64_t read_bytes = 0;
  bool interactive = false;
};

// Sum of the files' sizes, standard input's ("-") with them; 0 when one is no regular file (a
// pipe).
uint64_t total_file_bytes(const std::vector<std::string>& files);

class DocumentReader {
 public:
  // Checks the options and lists directories. Throws UsageError for options that exclude each
  // other; IoError when something named is not there.
  explicit DocumentReader(DocumentOptions options);

  // Hands on whole files of more than kPartBytes in parts, which begins and ends tell; they are cut
  // where `find_cut` allows (BpeTokenizer::find_cut, find_safe_cut), so that a pipe without end
  // takes bounded memory.
  using FindCut = std::function<size_t(std::string_view text, size_t from)>;
  void cut_long_files(FindCut find_cut) { find_cut_ = std::move(find_cut); }
  // The same for what cannot be mapped into memory alone: standard input and pipes.
  void cut_long_pipes(FindCut find_cut) {
    find_cut_ = std::move(find_cut);
    only_pipes_ = true;
  }
  static constexpr size_t kPartBytes = size_t{16} << 20;
  // The size of these parts where memory is short.
  void set_part_bytes(size_t bytes) { part_bytes_ = bytes; }

  // Calls `use` with every document in order. Throws IoError; FormatError for a compressed file, a
  // damaged JSON line or what is longer than the options allow; and whatever `use` throws.
  void for_each_batch(const std::function<void(const DocumentBatch&)>& use);

  DocumentUnit unit() const { return unit_; }
  // The inputs by name, directories replaced by the files below them.
  const std::vector<std::string>& files() const { return options_.files; }
  // Number of inputs (files, or 1 for standard input) after directories were listed.
  size_t input_count() const { return options_.files.size(); }
  // True when there can be other than one document.
  bool many() const { return unit_ != DocumentUnit::kFile || options_.files.size() != 1; }
  // Sum of file sizes; 0 when unknown (a pipe).
  uint64_t total_bytes() const { return total_bytes_; }
  // Whether one of the inputs is standard input.
  bool reads_stdin() const;

 private:
  void read_whole(const std::string& path, const std::function<void(const DocumentBatch&)>& use);
  void read_parts(const std::string& path, const std::function<void(const DocumentBatch&)>& use);
  void read_lines(const std::string& path, const std::function<void(const DocumentBatch&)>& use);
  [[noreturn]] void refuse_line(const std::string& path, uint64_t line_number) const;
  Document make_line(std::string_view line, const std::string& path, uint64_t line_number,
                     uint64_t offset);

  DocumentOptions options_;
  DocumentUnit unit_ = DocumentUnit::kFile;
  uint64_t total_bytes_ = 0;
  uint64_t read_bytes_ = 0;
  FindCut find_cut_;
  bool only_pipes_ = false;
  size_t part_bytes_ = kPartBytes;
  std::vector<std::string> texts_;  // of JSON lines in the current batch
};

// Throws FormatError naming the pipe line that works when `first_bytes` are those of a gzip, zstd,
// xz or bzip2 file. `tool` is the name that the line shows.
void refuse_compressed(std::string_view first_bytes, const std::string& path,
                       const std::string& override_hint);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_DOCUMENTS_H_
