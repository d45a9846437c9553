// SPDX-License-Identifier: Apache-2.0
// The results of one run, written all or not at all.
#ifndef NETCL_TOOLS_ATTN_OUTPUT_SET_H_
#define NETCL_TOOLS_ATTN_OUTPUT_SET_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "core/host_tensor.h"
#include "core/safetensors_file.h"

namespace netcl::attn {

// Collects results, then write() makes them visible. Until then no file is touched; while writing,
// files get their names only after the bytes of all of them are on disk and standard output has
// taken its part (base::commit_all).
class OutputSet {
 public:
  // A tensor under a tensor argument; "" and "-" are .npy on standard output. Throws UsageError for
  // bf16 as .npy. Tensors that name the same safetensors file share it.
  void add_tensor(const std::string& argument, const core::HostTensor& tensor);
  // A file, or "-", whose bytes `write` writes; it leaves the commit to write() below.
  using WriteBytes = std::function<void(base::OutputFile& out)>;
  void add_writer(const std::string& path, WriteBytes write);
  // Bytes to a path, "-" = standard output.
  void add_bytes(const std::string& path, std::string bytes);
  // Throws IoError.
  void write() const;

 private:
  struct SafetensorsOutput {
    std::string path;
    std::vector<core::NamedTensor> tensors;
  };
  std::vector<std::pair<std::string, WriteBytes>> writers_;  // path, what writes its bytes
  std::vector<SafetensorsOutput> safetensors_;
};

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_OUTPUT_SET_H_
