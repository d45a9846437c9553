// SPDX-License-Identifier: Apache-2.0
#include "core/safetensors_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "core/element_bytes.h"

namespace netcl::core {

namespace {

using base::FormatError;
using base::quote;
using base::UsageError;

std::string names_text(const std::vector<SafetensorsInfo>& tensors) {
  constexpr size_t kShown = 10;
  std::string text;
  for (size_t i = 0; i < std::min(tensors.size(), kShown); ++i) {
    text.append(i == 0 ? "" : ", ").append(quote(tensors[i].name));
  }
  if (tensors.size() > kShown) {
    text += " and " + std::to_string(tensors.size() - kShown) + " more";
  }
  return tensors.empty() ? "the file has no tensors" : "it has " + text;
}

// A JSON string with quotes. Throws UsageError when `text` is not UTF-8.
std::string json_string(const std::string& text, const std::string& path) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw UsageError(path + ": " + quote(text) + " is not UTF-8; safetensors needs UTF-8 text");
  }
}

// Place in safetensors_types(), which is the sort key of the reference writer.
size_t type_index(DType dtype) {
  const auto types = safetensors_types();
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const SafetensorsType& type) { return type.dtype == dtype; });
  NETCL_CHECK(found != types.end());
  return static_cast<size_t>(found - types.begin());
}

std::vector<size_t> file_order(std::span<const NamedTensor> tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const size_t left = type_index(tensors[a].tensor.dtype());
    const size_t right = type_index(tensors[b].tensor.dtype());
    return left != right ? left > right : tensors[a].name < tensors[b].name;
  });
  return order;
}

std::string metadata_text(const SafetensorsMetadata& metadata, const std::string& path) {
  std::set<std::string> keys;
  std::string text = "\"__metadata__\":{";
  for (const auto& [key, value] : metadata) {
    if (!keys.insert(key).second) {
      throw UsageError(path + ": metadata key " + quote(key) + " is given twice");
    }
    text.append(keys.size() == 1 ? "" : ",").append(json_string(key, path));
    text.append(":").append(json_string(value, path));
  }
  return text + "}";
}

std::string header_text(std::span<const NamedTensor> tensors, const std::vector<size_t>& order,
                        const SafetensorsMetadata& metadata, const std::string& path) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += metadata_text(metadata, path);
  }
  uint64_t offset = 0;
  std::set<std::string_view> names;
  for (const size_t i : order) {
    const auto& [name, tensor] = tensors[i];
    if (name == "__metadata__") {
      throw UsageError(path + ": a tensor cannot be named __metadata__");
    }
    if (!names.insert(name).second) {
      throw UsageError(path + ": tensor " + quote(name) + " is given twice");
    }
    text.append(text.size() == 1 ? "" : ",").append(json_string(name, path));
    text.append(":{\"dtype\":\"").append(safetensors_types()[type_index(tensor.dtype())].name);
    text += "\",\"shape\":[";
    for (size_t axis = 0; axis < tensor.shape().rank(); ++axis) {
      text.append(axis == 0 ? "" : ",").append(std::to_string(tensor.shape()[axis]));
    }
    text += "],\"data_offsets\":[" + std::to_string(offset) + ",";
    offset += tensor.byte_count();
    text += std::to_string(offset) + "]}";
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMaxSafetensorsHeaderBytes) {
    throw UsageError(path + ": header of " + std::to_string(text.size()) +
                     " bytes; the format allows " + std::to_string(kMaxSafetensorsHeaderBytes));
  }
  return text;
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  SafetensorsFile result;
  result.file_ = base::FileBytes::open_large(path);
  result.where_ = result.file_->path();
  result.header_ = parse_safetensors_header(result.bytes(), result.where_);
  return result;
}

SafetensorsFile SafetensorsFile::over(std::string_view bytes, std::string where) {
  SafetensorsFile result;
  result.borrowed_ = bytes;
  result.where_ = std::move(where);
  result.header_ = parse_safetensors_header(bytes, result.where_);
  return result;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(tensors().size());
  for (const SafetensorsInfo& info : tensors()) {
    names.push_back(info.name);
  }
  return names;
}

const SafetensorsInfo& SafetensorsFile::info(const std::string& name) const {
  const auto found = header_.index.find(name);
  if (found == header_.index.end()) {
    throw FormatError(where_ + ": there is no tensor " + quote(name) + "; " +
                      names_text(tensors()));
  }
  return tensors()[found->second];
}

HostTensor SafetensorsFile::load(const std::string& name) const {
  const SafetensorsInfo& found = info(name);
  const std::string place = where_ + ": tensor " + quote(name) + ": ";
  if (!found.type.dtype.has_value()) {
    throw FormatError(
        place + "dtype " + std::string(found.type.name) +
        " cannot be used; allowed are F64 F32 F16 BF16, I and U of 8 to 64 bits, BOOL");
  }
  Shape shape;
  try {
    shape = Shape(std::span<const int64_t>(found.dims));
  } catch (const FormatError& error) {
    throw FormatError(place + error.what());
  }
  HostTensor tensor(*found.type.dtype, shape);
  const size_t first_byte = header_.data_start + found.begin;
  if (tensor.byte_count() > 0) {
    std::memcpy(tensor.data(), bytes().data() + first_byte, tensor.byte_count());
  }
  check_bools(tensor, where_, first_byte);
  if constexpr (std::endian::native == std::endian::big) {
    swap_byte_order(tensor);
  }
  return tensor;
}

void write_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                       const SafetensorsMetadata& metadata) {
  base::OutputFile out(path);
  write_safetensors(out, path, tensors, metadata);
  out.commit();
}

void write_safetensors(base::OutputFile& out, const std::string& where,
                       std::span<const NamedTensor> tensors, const SafetensorsMetadata& metadata) {
  const std::vector<size_t> order = file_order(tensors);
  const std::string header = header_text(tensors, order, metadata, where);
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) {
    length += static_cast<char>((uint64_t{header.size()} >> shift) & 0xFF);
  }
  out.write(length);
  out.write(header);
  for (const size_t i : order) {
    const HostTensor& tensor = tensors[i].tensor;
    if constexpr (std::endian::native == std::endian::big) {
      HostTensor swapped = tensor;
      swap_byte_order(swapped);
      out.write(std::span<const std::byte>(swapped.data(), swapped.byte_count()));
    } else {
      out.write(std::span<const std::byte>(tensor.data(), tensor.byte_count()));
    }
  }
}

}  // namespace netcl::core
