// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_file.h"

#include <array>
#include <string_view>

#include "base/ascii.h"
#include "base/error.h"
#include "core/json_tensor_file.h"
#include "core/npy_file.h"
#include "core/safetensors_file.h"

namespace netcl::core {

namespace {

using base::quote;
using base::UsageError;

constexpr std::string_view kSafetensors = ".safetensors";
constexpr std::string_view kAllowed =
    "allowed are FILE.npy, FILE.safetensors:NAME, FILE.json and - (npy)";

HostTensor load_only_tensor(const SafetensorsFile& file) {
  if (file.tensors().size() == 1) {
    return file.load(file.tensors()[0].name);
  }
  constexpr size_t kShown = 10;
  std::string names;
  for (const SafetensorsInfo& info : file.tensors()) {
    if (&info - file.tensors().data() == kShown) {
      names += ", ...";
      break;
    }
    names.append(names.empty() ? "" : ", ").append(quote(info.name));
  }
  throw base::FormatError(file.where() + ": the file has " + std::to_string(file.tensors().size()) +
                          " tensors; name one as " + file.where() + ":NAME" +
                          (names.empty() ? "" : " of " + names));
}

}  // namespace

TensorSpec parse_tensor_spec(const std::string& argument) {
  if (argument == "-") {
    return {"-", TensorFormat::kNpy, ""};
  }
  const size_t colon = base::ascii_lower(argument).find(std::string(kSafetensors) + ":");
  if (colon != std::string::npos && colon > 0) {
    const size_t name = colon + kSafetensors.size() + 1;
    if (name == argument.size()) {
      throw UsageError(quote(argument, 200) + ": the tensor's name is empty; " +
                       std::string(kAllowed));
    }
    return {argument.substr(0, name - 1), TensorFormat::kSafetensors, argument.substr(name)};
  }
  struct Extension {
    std::string_view text;
    TensorFormat format;
  };
  constexpr std::array<Extension, 3> kExtensions = {{{".npy", TensorFormat::kNpy},
                                                     {kSafetensors, TensorFormat::kSafetensors},
                                                     {".json", TensorFormat::kJson}}};
  for (const auto& [text, format] : kExtensions) {
    if (argument.size() > text.size() && base::has_extension(argument, text)) {
      return {argument, format, ""};
    }
  }
  throw UsageError(quote(argument, 200) + ": not a tensor argument; " + std::string(kAllowed));
}

HostTensor load_tensor(const std::string& argument) {
  const TensorSpec spec = parse_tensor_spec(argument);
  switch (spec.format) {
    case TensorFormat::kNpy:
      return read_npy(spec.path);
    case TensorFormat::kJson:
      return read_json_tensor(spec.path);
    case TensorFormat::kSafetensors:
      break;
  }
  const auto file = SafetensorsFile::open(spec.path);
  return spec.name.empty() ? load_only_tensor(file) : file.load(spec.name);
}

void save_tensor(const std::string& argument, const HostTensor& tensor) {
  const TensorSpec spec = parse_tensor_spec(argument);
  switch (spec.format) {
    case TensorFormat::kNpy:
      write_npy(spec.path, tensor);
      return;
    case TensorFormat::kJson:
      write_json_tensor(spec.path, tensor);
      return;
    case TensorFormat::kSafetensors:
      break;
  }
  if (spec.name.empty()) {
    throw UsageError(quote(argument, 200) + ": the tensor needs a name; give " + argument +
                     ":NAME");
  }
  const std::array<NamedTensor, 1> tensors = {{{spec.name, tensor}}};
  write_safetensors(spec.path, tensors);
}

}  // namespace netcl::core
