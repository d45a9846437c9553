// SPDX-License-Identifier: Apache-2.0
#include "cli/documents.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/line_reader.h"
#include "cli/json_line.h"
#include "cli/tool_app.h"

namespace netcl::cli {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

bool is_stdin(const std::string& path) {
  return path == "-";
}

bool is_regular(const std::string& path) {
  struct stat status {};
  const int result =
      is_stdin(path) ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  return result == 0 && S_ISREG(status.st_mode);
}

// All regular files below a directory, sorted.
std::vector<std::string> list_directory(const std::string& path) {
  using Walk = std::filesystem::recursive_directory_iterator;
  std::vector<std::string> files;
  std::error_code error;
  std::string at = path;  // where an error happens; the iterator does not tell
  for (Walk entry(path, error); !error && entry != Walk(); entry.increment(error)) {
    at = entry->path().string();
    if (std::filesystem::is_regular_file(entry->symlink_status(error)) && !error) {
      files.push_back(at);
    }
  }
  if (error) {
    throw base::IoError(at + ": " + error.message());
  }
  if (files.empty()) {
    throw base::FormatError(path + ": no regular file in this directory");
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The inputs by name: directories replaced by the regular files below them.
std::vector<std::string> list_inputs(const DocumentOptions& options) {
  if (options.files.empty()) {
    return {"-"};
  }
  std::vector<std::string> inputs;
  for (const std::string& path : options.files) {
    std::error_code ignored;
    if (is_stdin(path) || !options.take_directories ||
        !std::filesystem::is_directory(path, ignored)) {
      inputs.push_back(path);
      continue;
    }
    const std::vector<std::string> below = list_directory(path);
    inputs.insert(inputs.end(), below.begin(), below.end());
  }
  if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
    throw base::UsageError("-: standard input named twice");
  }
  return inputs;
}

// Which fields --text-field can choose from.
std::string fields_hint(const base::Json& object) {
  constexpr size_t kShown = 8;
  if (object.empty()) {
    return "the object has no fields";
  }
  std::string names;
  size_t shown = 0;
  for (const auto& [name, value] : object.items()) {
    if (shown++ == kShown) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + base::quote(name);
  }
  return "the object has " + names + "; --text-field chooses one";
}

}  // namespace

uint64_t total_file_bytes(const std::vector<std::string>& files) {
  uint64_t total = 0;
  for (const std::string& path : files) {
    struct stat status {};
    if ((is_stdin(path) ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) != 0 ||
        !S_ISREG(status.st_mode)) {
      return 0;
    }
    total += static_cast<uint64_t>(status.st_size);
  }
  return total;
}

void add_document_options(ToolApp& app, DocumentOptions& options, const std::string& files_help) {
  app.take_files(options.files, "[FILES...]", files_help);
  app.add_switch("--lines", options.lines, "Each line is a document")->group("Input");
  app.add_switch("--jsonl", options.jsonl, "Each line is a JSON object with the text in a field")
      ->group("Input");
  app.add_text("--text-field", options.text_field, "NAME", "Field of --jsonl; default: text")
      ->group("Input");
  app.add_switch("--raw", options.raw, "Take gzip, zstd, xz and bzip2 files as they are")
      ->group("Input");
}

void refuse_compressed(std::string_view first_bytes, const std::string& path,
                       const std::string& override_hint) {
  if (const base::CompressedKind* kind = base::find_compressed_kind(first_bytes)) {
    throw base::FormatError(path + ": is " + kind->name + "-compressed; use '" + kind->command +
                            " " + path + " | ...'" + override_hint);
  }
}

DocumentReader::DocumentReader(DocumentOptions options) : options_(std::move(options)) {
  if (options_.lines && options_.jsonl) {
    throw base::UsageError("--lines and --jsonl exclude each other");
  }
  if (!options_.text_field.empty() && !options_.jsonl) {
    throw base::UsageError("--text-field is for --jsonl");
  }
  if (options_.text_field.empty()) {
    options_.text_field = "text";
  }
  unit_ = options_.jsonl   ? DocumentUnit::kJsonLine
          : options_.lines ? DocumentUnit::kLine
                           : DocumentUnit::kFile;
  options_.files = list_inputs(options_);
  total_bytes_ = total_file_bytes(options_.files);
}

bool DocumentReader::reads_stdin() const {
  return std::find(options_.files.begin(), options_.files.end(), "-") != options_.files.end();
}

void DocumentReader::for_each_batch(const std::function<void(const DocumentBatch&)>& use) {
  for (const std::string& path : options_.files) {
    if (unit_ == DocumentUnit::kFile) {
      const bool in_parts = find_cut_ && (!only_pipes_ || is_stdin(path) || !is_regular(path));
      in_parts ? read_parts(path, use) : read_whole(path, use);
    } else {
      read_lines(path, use);
    }
  }
}

// The memory that a part takes is that of part_bytes_ and of the longest run without a place to
// cut, which has an end where the input is a file.
void DocumentReader::read_parts(const std::string& path,
                                const std::function<void(const DocumentBatch&)>& use) {
  base::ChunkReader reader(path);
  std::string buffer;
  buffer.reserve(part_bytes_ + part_bytes_ / 8);
  uint64_t offset = 0;  // of the buffer's first byte
  size_t searched = 0;  // bytes of the buffer before which there is no place to cut
  const uint64_t most_searched =
      is_regular(path) ? UINT64_MAX : std::max<uint64_t>(options_.most_line_bytes, part_bytes_);
  for (bool at_end = false, first = true;;) {
    while (!at_end && buffer.size() < std::max(part_bytes_, searched + part_bytes_ / 4)) {
      const size_t used = buffer.size();
      buffer.resize(used + part_bytes_ / 16);
      const size_t got = reader.read({buffer.data() + used, buffer.size() - used});
      buffer.resize(used + got);
      read_bytes_ += got;
      at_end = got == 0;
      if (used == 0 && offset == 0 && !options_.raw && !is_stdin(path)) {
        refuse_compressed(buffer, path, " or --raw");
      }
    }
    size_t end = buffer.size();
    if (!at_end) {
      end = find_cut_(buffer, std::max(searched, part_bytes_ / 4 * 3));
      if (end == buffer.size()) {
        searched = end - 1;
        if (searched > most_searched) {
          throw base::FormatError(base::at_byte(base::display_path(path), offset) +
                                  ": no place to cut the text in more than " +
                                  std::to_string(most_searched) +
                                  " bytes of a pipe; a file may have longer ones");
        }
        continue;
      }
    }
    const Document document{
        std::string_view(buffer).substr(0, end), base::display_path(path), offset, "", first,
        at_end && end == buffer.size()};
    use({{&document, 1}, read_bytes_, false});
    first = false;
    offset += end;
    searched = 0;
    buffer.erase(0, end);
    if (document.ends) {
      return;
    }
  }
}

void DocumentReader::read_whole(const std::string& path,
                                const std::function<void(const DocumentBatch&)>& use) {
  const base::FileBytes file = base::FileBytes::open_large(path, options_.most_piped_bytes);
  if (!options_.raw && !is_stdin(path)) {
    refuse_compressed(file.view(), path, " or --raw");
  }
  read_bytes_ += file.view().size();
  Document document{file.view(), base::display_path(path), 0, ""};
  document.is_mapped = file.is_mapped();
  use({{&document, 1}, read_bytes_, false});
}

void DocumentReader::refuse_line(const std::string& path, uint64_t line_number) const {
  base::refuse_long_line(base::at_line(base::display_path(path), line_number),
                         options_.most_line_bytes);
}

Document DocumentReader::make_line(std::string_view line, const std::string& path,
                                   uint64_t line_number, uint64_t offset) {
  if (line.size() - (line.ends_with('\n') ? 1 : 0) > options_.most_line_bytes) {
    refuse_line(path, line_number);
  }
  if (unit_ == DocumentUnit::kLine) {
    const bool cut = !options_.keep_line_ends && line.ends_with('\n');
    return {line.substr(0, line.size() - (cut ? 1 : 0)), base::display_path(path), offset, ""};
  }
  const std::string where = base::at_line(base::display_path(path), line_number);
  line = line.substr(0, line.size() - (line.ends_with('\n') ? 1 : 0));
  const auto [object, id] = parse_json_line(line, where);
  if (!object.is_object()) {
    throw base::FormatError(where + ": not a JSON object; each line must be one with the field " +
                            base::quote(options_.text_field));
  }
  try {
    texts_.push_back(base::require_string(object, options_.text_field, where));
  } catch (const base::FormatError& error) {
    if (object.contains(options_.text_field)) {
      throw;
    }
    throw base::FormatError(error.what() + ("; " + fields_hint(object)));
  }
  return {{}, where, 0, std::string(id)};
}

void DocumentReader::read_lines(const std::string& path,
                                const std::function<void(const DocumentBatch&)>& use) {
  base::ChunkReader reader(path);
  const bool interactive = !is_regular(path);
  std::string buffer;   // from the beginning of the first line that is not complete
  uint64_t offset = 0;  // of buffer's first byte in the file
  uint64_t line_number = 0;
  size_t searched = 0;  // bytes of buffer that hold no line end
  std::vector<Document> documents;
  for (bool at_end = false, first = true; !at_end; first = false) {
    const size_t used = buffer.size();
    if (used > options_.most_line_bytes) {
      refuse_line(path, line_number + 1);
    }
    buffer.resize(used + kChunkBytes);
    const size_t got = reader.read({buffer.data() + used, kChunkBytes});
    buffer.resize(used + got);
    read_bytes_ += got;
    at_end = got == 0;
    if (first && !options_.raw && !is_stdin(path)) {
      refuse_compressed(buffer, path, " or --raw");
    }
    documents.clear();
    texts_.clear();
    size_t begin = 0;
    std::exception_ptr failure;
    for (;;) {
      const size_t end = buffer.find('\n', std::max(begin, searched));
      const bool complete = end != std::string::npos;
      if (!complete && !(at_end && begin < buffer.size())) {
        break;
      }
      const size_t next = complete ? end + 1 : buffer.size();
      try {
        documents.push_back(make_line(std::string_view(buffer).substr(begin, next - begin), path,
                                      ++line_number, offset + begin));
      } catch (const base::FormatError&) {
        failure = std::current_exception();  // the good lines before it are served first
        break;
      }
      begin = next;
    }
    for (size_t i = 0; i < texts_.size(); ++i) {
      documents[i].text = texts_[i];
    }
    if (!documents.empty()) {
      use({documents, read_bytes_, interactive});
    }
    if (failure) {
      std::rethrow_exception(failure);
    }
    buffer.erase(0, begin);
    offset += begin;
    searched = buffer.size();
  }
}

}  // namespace netcl::cli
