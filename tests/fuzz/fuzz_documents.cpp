// SPDX-License-Identifier: Apache-2.0
// The first byte chooses how a text file is read: whole, by lines, by lines that keep their ends,
// as JSON lines. Any bytes are documents or an error of the input; lines joined are the file.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/documents.h"
#include "memory_file.h"
#include "text/unicode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  if (size == 0) {
    return 0;
  }
  const unsigned choice = data[0] % 4;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const fuzz::MemoryFile file(bytes);
  cli::DocumentOptions options;
  options.files = {file.path()};
  options.raw = (data[0] & 0x80u) != 0;
  options.lines = choice == 1 || choice == 2;
  options.keep_line_ends = choice == 2;
  options.jsonl = choice == 3;
  try {
    cli::DocumentReader reader(options);
    std::string joined;
    reader.for_each_batch([&](const cli::DocumentBatch& batch) {
      for (const cli::Document& document : batch.documents) {
        if (options.jsonl) {
          NETCL_CHECK(text::is_valid_utf8(document.text));
          continue;
        }
        NETCL_CHECK(document.where_offset == joined.size());
        joined += document.text;
        if (choice == 1 && joined.size() < bytes.size()) {
          joined += '\n';
        }
      }
    });
    NETCL_CHECK(options.jsonl || joined == bytes);
  } catch (const base::FormatError&) {
  }
  return 0;
}
