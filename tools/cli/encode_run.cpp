// SPDX-License-Identifier: Apache-2.0
#include "cli/encode_run.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cli/input_check.h"
#include "cli/output_name.h"
#include "text/id_file.h"
#include "text/sequence_shape.h"

namespace netcl::cli {

namespace {

void check_options(const EncodeRunOptions& options) {
  const bool line_format = options.format == IdFormat::kText || options.format == IdFormat::kJsonl;
  if (options.count && !line_format) {
    throw base::UsageError(
        "--count writes text or jsonl, and --format or the name of -o says another");
  }
  if (options.pieces && !line_format) {
    throw base::UsageError(
        "--pieces writes text or jsonl, and --format or the name of -o says another");
  }
  if (options.count && options.pieces) {
    throw base::UsageError("--count and --pieces exclude each other");
  }
  if (options.has_limit && options.has_append && options.limit == 0) {
    throw base::UsageError("--limit: 0 leaves no place for the token of --append");
  }
  if (options.has_limit && options.truncate) {
    throw base::UsageError("--limit and --truncate exclude each other");
  }
  const std::vector<std::string> outputs = {options.output, options.offsets_path,
                                            options.spans_path};
  refuse_same_outputs(outputs);
  refuse_inputs_as_outputs(all_inputs(options.documents.files, tokenizer_inputs(options.tokenizer)),
                           outputs);
  check_output_name(options.offsets_path, "--offsets writes a NumPy array", {".npy"});
  check_output_name(options.spans_path, "--spans writes a NumPy array", {".npy"});
  const auto refuse_terminal = [](const std::string& path, const char* what) {
    if (!path.empty()) {
      refuse_binary_on_terminal(path, what);
    }
  };
  refuse_terminal(is_binary(options.format) ? options.output : "", "this --format");
  refuse_terminal(options.offsets_path, "--offsets");
  refuse_terminal(options.spans_path, "--spans");
}

// A second result beside the ids: an array of 64-bit numbers in a .npy file.
class NumberFile {
 public:
  NumberFile(const std::string& path, uint64_t columns)
      : out_(path), writer_(out_, text::NpyNumber::kU64, columns) {}
  void write(std::span<const uint64_t> numbers) { writer_.write(numbers); }
  // The file with all numbers in it, to be committed.
  base::OutputFile* finish() {
    writer_.finish();
    return &out_;
  }

 private:
  base::OutputFile out_;
  text::NpyWriter writer_;
};

// What became of one document.
struct Outcome {
  text::Encoding encoding;
  uint64_t count = 0;
  std::exception_ptr error;
};

// What is written for one document, or for a part of a long one.
struct Row {
  std::string id_json;
  uint64_t text_size = 0;
  text::Encoding encoding;
  uint64_t count = 0;
  bool begins = true;
  bool ends = true;
};

class EncodeRun {
 public:
  EncodeRun(const EncodeRunOptions& options, const CommonOptions& common)
      : options_(options),
        reader_(options.documents),
        tokenizer_(load_tokenizer(options.tokenizer, reader_.reads_stdin())),
        pool_(common.thread_count),
        progress_(common.progress),
        report_(progress_.callback()),
        out_(options.output),
        writer_(make_id_writer(options.format, out_, shown_output(), reader_.many())) {
    // Names that are no special tokens are told before any input is read.
    tokenizer_.encode("", options_.encode);
    if (options_.has_append) {
      append_ = find_append();
    }
    if (options_.add_template || options_.truncate || options_.pad) {
      shape_.emplace(tokenizer_, text::ShapeOptions{options_.add_template, options_.truncate,
                                                    options_.pad, append_ ? 1u : 0u});
    }
    if (!options_.offsets_path.empty()) {
      offsets_.emplace(options_.offsets_path, 0);
      offsets_->write(std::span<const uint64_t>(&stats_.ids, 1));
    }
    if (!options_.spans_path.empty()) {
      spans_.emplace(options_.spans_path, 2);
    }
    // What needs all ids of a document at once gets it whole.
    if (tokenizer_.can_be_cut() && !options_.pieces && !options_.has_limit && !spans_ &&
        !options_.truncate && !options_.pad) {
      reader_.cut_long_files(
          [this](std::string_view text, size_t from) { return tokenizer_.find_cut(text, from); });
    }
  }

  EncodeStats run() {
    try {
      reader_.for_each_batch([this](const DocumentBatch& batch) { take(batch); });
    } catch (const base::FormatError&) {
      // On standard output exactly the documents before the bad one appear, and of a long one the
      // parts before the bad place.
      out_.flush();
      throw;
    }
    write_held();
    progress_.clear();
    if (!options_.count) {
      writer_->finish();
    }
    std::vector<base::OutputFile*> files = {&out_};
    if (offsets_) {
      files.push_back(offsets_->finish());
    }
    if (spans_) {
      files.push_back(spans_->finish());
    }
    base::commit_all(files);
    return stats_;
  }

 private:
  std::string shown_output() const {
    return options_.output.empty() || options_.output == "-" ? "<stdout>" : options_.output;
  }

  uint32_t find_append() const {
    std::optional<uint32_t> id = tokenizer_.find_added(options_.append);
    if (!id) {
      id = tokenizer_.find_token(options_.append);
    }
    if (!id) {
      throw base::UsageError("--append: " + base::quote(options_.append) +
                             " is no token of the tokenizer");
    }
    return *id;
  }

  void take(const DocumentBatch& batch) {
    if (batch.documents.size() == 1 && can_stream(batch.documents[0])) {
      stream(batch.documents[0]);
    } else {
      take_whole(batch);
    }
    if (batch.interactive) {
      out_.flush();
    }
    if (report_) {
      report_({"encode", "bytes", batch.read_bytes, reader_.total_bytes()});
    }
  }

  // Whether ids may be written before all of the document's are there: nothing needs them together,
  // and if a bad place comes, what was written is thrown away or is allowed to stay.
  bool can_stream(const Document& document) const {
    const bool is_part = !document.begins || !document.ends;
    return !shape_ && !spans_ && !options_.pieces && !options_.has_limit && !options_.count &&
           (is_part || out_.seekable());
  }

  // The threads encode one long text while what they have done is written.
  void stream(const Document& document) {
    text::EncodeOptions encode_options = options_.encode;
    encode_options.where = document.where;
    encode_options.where_offset = document.where_offset;
    bool begins = document.begins;
    const auto write_part = [&](std::span<const uint32_t> ids, bool ends) {
      writer_->write({ids, document.id_json, {}, false, begins, ends});
      stats_.ids += ids.size();
      begins = false;
    };
    tokenizer_.encode(document.text, encode_options, pool_,
                      [&](std::span<const uint32_t> ids) { write_part(ids, false); });
    const bool appends = append_ && document.ends;
    write_part(appends ? std::span<const uint32_t>(&*append_, 1) : std::span<const uint32_t>(),
               document.ends);
    stats_.documents += document.ends ? 1 : 0;
    stats_.bytes += document.text.size();
    if (offsets_ && document.ends) {
      offsets_->write(std::span<const uint64_t>(&stats_.ids, 1));
    }
  }

  void take_whole(const DocumentBatch& batch) {
    std::vector<Outcome> outcomes(batch.documents.size());
    // Documents are handed out in runs: a call for each line would cost more than the line.
    const size_t run_length =
        std::max<size_t>(1, std::min<size_t>(64, outcomes.size() / (8 * pool_.thread_count())));
    const size_t run_count = (outcomes.size() + run_length - 1) / run_length;
    const auto encode_run = [&](size_t run, base::ThreadPool* pool) {
      const size_t end = std::min(outcomes.size(), (run + 1) * run_length);
      for (size_t i = run * run_length; i < end; ++i) {
        // Kept per document, so that the first one in input order is the one reported.
        try {
          encode(batch.documents[i], outcomes[i], pool);
        } catch (...) {
          outcomes[i].error = std::current_exception();
        }
      }
    };
    if (outcomes.size() == 1) {
      encode_run(0, &pool_);  // the threads share the one document
    } else {
      pool_.parallel_for(run_count, [&](size_t run, size_t) { encode_run(run, nullptr); });
    }
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].error) {
        std::rethrow_exception(outcomes[i].error);
      }
      const Document& document = batch.documents[i];
      take_row({document.id_json, document.text.size(), std::move(outcomes[i].encoding),
                outcomes[i].count, document.begins, document.ends});
    }
  }

  void encode(const Document& document, Outcome& outcome, base::ThreadPool* pool) const {
    text::EncodeOptions encode_options = options_.encode;
    encode_options.where = document.where;
    encode_options.where_offset = document.where_offset;
    if (options_.count && !options_.has_limit && !spans_ && !shape_) {
      const uint64_t ids = pool == nullptr
                               ? tokenizer_.count(document.text, encode_options)
                               : tokenizer_.encode(document.text, encode_options, *pool).size();
      outcome.count = ids + (append_ && document.ends ? 1 : 0);
      return;
    }
    text::Encoding& encoding = outcome.encoding;
    if (spans_) {
      encoding = tokenizer_.encode_with_spans(document.text, encode_options);
    } else {
      encoding.ids = pool == nullptr ? tokenizer_.encode(document.text, encode_options)
                                     : tokenizer_.encode(document.text, encode_options, *pool);
    }
    if (shape_) {
      shape_->apply(encoding, document.text.size(), document.begins, document.ends);
    }
    const uint64_t room = options_.limit - (append_ ? 1 : 0);
    if (options_.has_limit && encoding.ids.size() > room) {
      const size_t kept = tokenizer_.prefix_at_character(encoding.ids, room);
      encoding.ids.resize(kept);
      encoding.spans.resize(spans_ ? kept : 0);
    }
    if (append_ && document.ends) {
      encoding.ids.push_back(*append_);
      if (spans_) {
        encoding.spans.push_back({document.text.size(), document.text.size()});
      }
    }
    outcome.count = encoding.ids.size();
  }

  // Writes a row, or holds it while the longest is not known.
  void take_row(Row row) {
    if (shape_ && shape_->pads_to_longest()) {
      longest_ = std::max<uint64_t>(longest_, row.encoding.ids.size());
      held_.push_back(std::move(row));
    } else {
      write(std::move(row));
    }
  }

  void write_held() {
    for (Row& row : held_) {
      write(std::move(row));
    }
    held_.clear();
  }

  void write(Row row) {
    if (shape_) {
      shape_->pad(row.encoding, longest_, row.text_size);
      row.count = row.encoding.ids.size();
    }
    stats_.documents += row.ends ? 1 : 0;
    stats_.bytes += row.text_size;
    stats_.ids += row.count;
    if (!options_.count) {
      write_ids(row);
    }
    document_ids_ = (row.begins ? 0 : document_ids_) + row.count;
    if (options_.count && row.ends) {
      write_count(row);
    }
    if (offsets_ && row.ends) {
      offsets_->write(std::span<const uint64_t>(&stats_.ids, 1));
    }
    if (spans_) {
      numbers_.clear();
      for (const text::ByteSpan& span : row.encoding.spans) {
        numbers_.push_back(span.begin);
        numbers_.push_back(span.end);
      }
      spans_->write(std::span<const uint64_t>(numbers_));
    }
  }

  void write_count(const Row& row) {
    if (options_.format == IdFormat::kText) {
      out_.write(std::to_string(document_ids_) + "\n");
      return;
    }
    out_.write("{\"count\":" + std::to_string(document_ids_) +
               (row.id_json.empty() ? "" : ",\"id\":" + row.id_json) + "}\n");
  }

  void write_ids(const Row& row) {
    const std::vector<uint32_t>& ids = row.encoding.ids;
    pieces_.clear();
    if (options_.pieces) {
      for (const uint32_t id : ids) {
        pieces_.push_back(piece_json(tokenizer_.token_bytes(id)));
      }
    }
    writer_->write({ids, row.id_json, pieces_, options_.pieces, row.begins, row.ends});
  }

  const EncodeRunOptions& options_;
  DocumentReader reader_;
  text::BpeTokenizer tokenizer_;
  base::ThreadPool pool_;
  ProgressReport progress_;
  base::ProgressFn report_;
  std::optional<uint32_t> append_;
  std::optional<text::SequenceShape> shape_;
  std::vector<Row> held_;  // rows that wait for the longest
  uint64_t longest_ = 0;
  EncodeStats stats_;
  uint64_t document_ids_ = 0;  // of the document so far
  base::OutputFile out_;
  std::unique_ptr<IdWriter> writer_;
  std::optional<NumberFile> offsets_;
  std::optional<NumberFile> spans_;
  std::vector<uint64_t> numbers_;
  std::vector<std::string> pieces_;
};

}  // namespace

EncodeStats encode_documents(const EncodeRunOptions& given, const CommonOptions& common) {
  EncodeRunOptions options = given;
  if (options.format == IdFormat::kAuto) {
    options.format = id_format_of_name(options.output);
  } else {
    check_id_output_name(options.output, options.format);
  }
  check_options(options);
  return EncodeRun(options, common).run();
}

}  // namespace netcl::cli
