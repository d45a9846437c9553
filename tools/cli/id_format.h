// SPDX-License-Identifier: Apache-2.0
// How token ids are written and read by the tokenizer tools:
//   text   ids separated by one space, one document a line
//   json   [1,2,3] for one input document; [[1,2],[3]] where there can be many (several files,
//          --lines, --jsonl)
//   jsonl  one {"ids":[1,2,3]} a line, with the "id" of the input line if it has one
//   npy    one-dimensional array <u4 of all documents joined
//   u16, u32  the same numbers, little-endian, without a header
#ifndef NETCL_TOOLS_CLI_ID_FORMAT_H_
#define NETCL_TOOLS_CLI_ID_FORMAT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "cli/choice.h"

namespace netcl::cli {

enum class IdFormat { kAuto, kText, kJson, kJsonl, kNpy, kU16, kU32 };

// Names for --format; with or without "auto".
std::vector<Choice<IdFormat>> id_format_choices(bool with_auto);
bool is_binary(IdFormat format);
// The format that the name of an output asks for: .json, .jsonl, .npy, .u16 and .u32, else text.
// Throws UsageError for the extension of another format, which is not written (.npz, .gz).
IdFormat id_format_of_name(const std::string& path);

// Throws UsageError when an output written in `format` has the extension of another one.
void check_id_output_name(const std::string& path, IdFormat format);

// One document of ids on its way out.
struct IdRow {
  std::span<const uint32_t> ids;
  std::string_view id_json;             // JSON text of the document's "id"; may be empty
  std::span<const std::string> pieces;  // with --pieces: piece_json() of each id
  bool has_pieces = false;
  bool begins = true;  // false: more ids of the row that was written last
  bool ends = true;    // false: the next row goes on with this one, which has no pieces
};

// Writes rows to one OutputFile. finish() comes last, before the file's commit().
class IdWriter {
 public:
  virtual ~IdWriter() = default;
  virtual void write(const IdRow& row) = 0;
  virtual void finish() {}
};

// Writer of a format other than kAuto. `where` names the destination in messages (an id that does
// not fit u16 is a FormatError); `many` chooses the list of lists for kJson.
std::unique_ptr<IdWriter> make_id_writer(IdFormat format, base::OutputFile& out,
                                         const std::string& where, bool many);

// A token's bytes as JSON: a string, or {"hex":"e282"} when they are not UTF-8.
std::string piece_json(std::string_view bytes);

// Where ids that are read go. For every document: begin(where), ids() any number of times, end().
class IdSink {
 public:
  virtual ~IdSink() = default;
  // `where` names the document in messages: "ids.txt:3", "ids.npy".
  virtual void begin(const std::string& where) = 0;
  virtual void ids(std::span<const uint32_t> ids) = 0;
  virtual void end() = 0;
  // Everything that has arrived so far was handed on; more may take a while.
  virtual void pause() {}
};

// Reads a file or "-". kAuto tells npy, json, jsonl and txt from the name's extension, else from
// the first byte that is no blank ('[' json, '{' jsonl, 0x93 npy), else it is text; raw u16 and u32
// are never guessed. All but JSON is handed on as it arrives; JSON text or one line of it may have
// kMostPipedBytes. Throws IoError and FormatError; messages name the place, and a bad id with its
// position in the document.
// `on_read`, which may be empty, gets the number of bytes of each read.
void read_ids(const std::string& path, IdFormat format, IdSink& sink,
              const std::function<void(uint64_t)>& on_read = {});

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_ID_FORMAT_H_
