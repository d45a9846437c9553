// SPDX-License-Identifier: Apache-2.0
// Named tensors as safetensors files. Source: the format's page, github.com/huggingface/safetensors
// README "Format", and its reference reader's checks; where the two differ the stricter holds (the
// header starts with '{', a tensor's entry has no other fields). Sharded checkpoints (an index
// beside several files) are not read.
#ifndef NETCL_CORE_SAFETENSORS_FILE_H_
#define NETCL_CORE_SAFETENSORS_FILE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "core/host_tensor.h"
#include "core/safetensors_header.h"

namespace netcl::core {

// An open file: its header checked and in memory, its data mapped. Movable, not copyable; safe for
// concurrent reading.
class SafetensorsFile {
 public:
  // Throws IoError, or FormatError when a rule of the format is broken (parse_safetensors_header).
  // Reads no tensor. "-" reads the whole of standard input.
  static SafetensorsFile open(const std::string& path);
  // The same over bytes that outlive the object; `where` names them in messages.
  static SafetensorsFile over(std::string_view bytes, std::string where);

  // Everything the header says, tensors in its order.
  const std::vector<SafetensorsInfo>& tensors() const { return header_.tensors; }
  std::vector<std::string> names() const;
  const SafetensorsMetadata& metadata() const { return header_.metadata; }
  // Path for messages.
  const std::string& where() const { return where_; }

  bool contains(const std::string& name) const { return header_.index.count(name) != 0; }
  // Throws FormatError that lists names of the file (the first ten) when there is no such tensor.
  const SafetensorsInfo& info(const std::string& name) const;

  // A copy of a tensor's elements, whatever the alignment of its bytes. Throws FormatError like
  // info(), for a dtype that HostTensor lacks, a rank above Shape::kMaxRank, and a bool that is
  // neither 0 nor 1.
  HostTensor load(const std::string& name) const;

 private:
  SafetensorsFile() = default;
  std::string_view bytes() const { return file_.has_value() ? file_->view() : borrowed_; }

  std::optional<base::FileBytes> file_;
  std::string_view borrowed_;
  std::string where_;
  SafetensorsHeader header_;
};

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

// Writes a file that the reference writer would write byte for byte: tensors by dtype (U64 I64 F64
// F32 U32 I32 BF16 F16 U16 I16 I8 U8 BOOL), then by name; metadata as given; the header padded with
// blanks so that the data starts at a multiple of 8. The file appears only when complete. Throws
// UsageError "path: ..." before anything is written for a name given twice, the name __metadata__,
// text that is not UTF-8 and a header above kMaxSafetensorsHeaderBytes; IoError.
void write_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                       const SafetensorsMetadata& metadata = {});
// The same bytes to an output that is still to be committed; `where` is its path for messages.
void write_safetensors(base::OutputFile& out, const std::string& where,
                       std::span<const NamedTensor> tensors,
                       const SafetensorsMetadata& metadata = {});

}  // namespace netcl::core

#endif  // NETCL_CORE_SAFETENSORS_FILE_H_
