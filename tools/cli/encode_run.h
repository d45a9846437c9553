// SPDX-License-Identifier: Apache-2.0
// The work of bpe-encode behind its options: documents in, rows of ids out, documents of one batch
// encoded on several threads and written in order.
#ifndef NETCL_TOOLS_CLI_ENCODE_RUN_H_
#define NETCL_TOOLS_CLI_ENCODE_RUN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/documents.h"
#include "cli/id_format.h"
#include "cli/run_tool.h"
#include "cli/tokenizer_option.h"
#include "text/tokenizer.h"

namespace netcl::cli {

struct EncodeRunOptions {
  TokenizerOption tokenizer;
  DocumentOptions documents;
  text::EncodeOptions encode;
  std::string output = "-";
  IdFormat format = IdFormat::kAuto;  // by the name of the output
  std::string append;                 // token whose id ends every document; empty: none
  bool has_append = false;
  bool count = false;   // write numbers of ids in place of ids
  bool pieces = false;  // write what each id stands for beside it
  uint64_t limit = 0;   // most ids of a document, the appended one included
  bool has_limit = false;
  bool add_template = false;  // put the template of the tokenizer around each document
  bool truncate = false;      // cut each document as the tokenizer says
  bool pad = false;           // fill each document up as the tokenizer says
  std::string offsets_path;   // .npy <u8 [documents + 1]: where each document's ids begin
  std::string spans_path;     // .npy <u8 [ids, 2]: bytes of its document that an id was made from
};

struct EncodeStats {
  uint64_t documents = 0;
  uint64_t bytes = 0;  // of the documents
  uint64_t ids = 0;    // written, or counted with `count`
};

// Encodes everything and commits all outputs. Throws UsageError for options that contradict each
// other or name no token; else as the library does. Documents before a refused one are written.
EncodeStats encode_documents(const EncodeRunOptions& options, const CommonOptions& common);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_ENCODE_RUN_H_
