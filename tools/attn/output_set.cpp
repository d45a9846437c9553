// SPDX-License-Identifier: Apache-2.0
#include "attn/output_set.h"

#include <memory>

#include "base/file.h"
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

void OutputSet::add_writer(std::function<void()> write) {
  writers_.push_back(std::move(write));
}

void OutputSet::add_bytes(const std::string& path, std::string bytes) {
  bytes_.emplace_back(path, std::move(bytes));
}

void OutputSet::write() const {
  std::vector<std::unique_ptr<base::OutputFile>> files;
  for (const auto& [path, bytes] : bytes_) {
    if (path != "-") {
      files.push_back(std::make_unique<base::OutputFile>(path));
      files.back()->write(bytes);
      files.back()->flush();
    }
  }
  for (const auto& [path, bytes] : bytes_) {
    if (path == "-") {
      base::OutputFile out("-");
      out.write(bytes);
      out.commit();
    }
  }
  for (const SafetensorsOutput& output : safetensors_) {
    core::write_safetensors(output.path, output.tensors);
  }
  for (const std::function<void()>& writer : writers_) {
    writer();
  }
  for (const std::unique_ptr<base::OutputFile>& file : files) {
    file->commit();
  }
}

}  // namespace netcl::attn
