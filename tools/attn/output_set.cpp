// SPDX-License-Identifier: Apache-2.0
#include "attn/output_set.h"

#include <memory>

#include "core/json_tensor_file.h"
#include "core/npy_file.h"
#include "core/tensor_file.h"

namespace netcl::attn {

void OutputSet::add_tensor(const std::string& argument, const core::HostTensor& tensor) {
  const core::TensorSpec spec = core::parse_tensor_spec(argument.empty() ? "-" : argument);
  switch (spec.format) {
    case core::TensorFormat::kNpy:
      add_bytes(spec.path, core::npy_bytes(tensor, spec.path == "-" ? "<stdout>" : spec.path));
      return;
    case core::TensorFormat::kJson:
      add_bytes(spec.path, core::json_tensor_text(tensor));
      return;
    case core::TensorFormat::kSafetensors:
      break;
  }
  for (SafetensorsOutput& output : safetensors_) {
    if (output.path == spec.path) {
      output.tensors.push_back({spec.name, tensor});
      return;
    }
  }
  safetensors_.push_back({spec.path, {{spec.name, tensor}}});
}

void OutputSet::add_writer(const std::string& path, WriteBytes write) {
  writers_.emplace_back(path, std::move(write));
}

void OutputSet::add_bytes(const std::string& path, std::string bytes) {
  add_writer(path, [bytes = std::move(bytes)](base::OutputFile& out) { out.write(bytes); });
}

void OutputSet::write() const {
  std::vector<std::unique_ptr<base::OutputFile>> files;
  std::vector<base::OutputFile*> all;
  const auto open = [&](const std::string& path) -> base::OutputFile& {
    files.push_back(std::make_unique<base::OutputFile>(path));
    all.push_back(files.back().get());
    return *files.back();
  };
  for (const SafetensorsOutput& output : safetensors_) {
    core::write_safetensors(open(output.path), output.path, output.tensors);
  }
  // Standard output comes last: what it has taken cannot be taken back.
  for (const bool is_stdout : {false, true}) {
    for (const auto& [path, write_bytes] : writers_) {
      if ((path == "-") == is_stdout) {
        write_bytes(open(path));
      }
    }
  }
  base::commit_all(all);
}

}  // namespace netcl::attn
