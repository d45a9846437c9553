// SPDX-License-Identifier: Apache-2.0
#include "core/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "base/error.h"
#include "core/json_events.h"

namespace netcl::core {

namespace {

using base::at_byte;
using base::FormatError;
using base::quote;

constexpr size_t kLengthBytes = 8;

constexpr std::array<SafetensorsType, 22> kTypes = {{{"BOOL", 8, DType::kBool},
                                                     {"F4", 4, std::nullopt},
                                                     {"F6_E2M3", 6, std::nullopt},
                                                     {"F6_E3M2", 6, std::nullopt},
                                                     {"U8", 8, DType::kU8},
                                                     {"I8", 8, DType::kI8},
                                                     {"F8_E5M2", 8, std::nullopt},
                                                     {"F8_E4M3", 8, std::nullopt},
                                                     {"F8_E8M0", 8, std::nullopt},
                                                     {"F8_E4M3FNUZ", 8, std::nullopt},
                                                     {"F8_E5M2FNUZ", 8, std::nullopt},
                                                     {"I16", 16, DType::kI16},
                                                     {"U16", 16, DType::kU16},
                                                     {"F16", 16, DType::kF16},
                                                     {"BF16", 16, DType::kBF16},
                                                     {"I32", 32, DType::kI32},
                                                     {"U32", 32, DType::kU32},
                                                     {"F32", 32, DType::kF32},
                                                     {"C64", 64, std::nullopt},
                                                     {"F64", 64, DType::kF64},
                                                     {"I64", 64, DType::kI64},
                                                     {"U64", 64, DType::kU64}}};

// Fills a header from JSON events: {name: {field: value}}, where anything else is refused at once.
class HeaderReader : public JsonEvents {
 public:
  HeaderReader(SafetensorsHeader& header, std::string_view where)
      : header_(header), where_(where) {}

  void begin_object() override {
    switch (place_) {
      case Place::kFile:
        place_ = Place::kNames;
        break;
      case Place::kTensor:
        place_ = Place::kFields;
        break;
      case Place::kMetadata:
        place_ = Place::kMetadataKeys;
        break;
      default:
        unexpected("an object");
    }
  }

  void end_object() override {
    if (place_ == Place::kFields) {
      check_fields();
    }
    place_ = place_ == Place::kNames ? Place::kFile : Place::kNames;
  }

  void key(const std::string& name) override {
    if (place_ == Place::kNames) {
      begin_entry(name);
    } else if (place_ == Place::kFields) {
      begin_field(name);
    } else {
      if (!metadata_keys_.insert(name).second) {
        fail("__metadata__", "key " + quote(name) + " appears twice");
      }
      header_.metadata.emplace_back(name, std::string());
      place_ = Place::kMetadataValue;
    }
  }

  void string(const std::string& text) override {
    if (place_ == Place::kMetadataValue) {
      header_.metadata.back().second = text;
      place_ = Place::kMetadataKeys;
    } else if (place_ == Place::kDtype) {
      const auto* found =
          std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const SafetensorsType& type) { return type.name == text; });
      if (found == kTypes.end()) {
        fail_tensor("dtype " + quote(text, 20) + " is unknown");
      }
      tensor().type = *found;
      place_ = Place::kFields;
    } else {
      unexpected("a string");
    }
  }

  void begin_array() override {
    if (place_ == Place::kShape) {
      place_ = Place::kDims;
    } else if (place_ == Place::kOffsets) {
      place_ = Place::kOffsetValues;
    } else {
      unexpected("an array");
    }
  }

  void end_array() override {
    if (place_ == Place::kOffsetValues && offset_count_ != 2) {
      fail_tensor("data_offsets has " + std::to_string(offset_count_) + " numbers; needed are 2");
    }
    place_ = Place::kFields;
  }

  void unsigned_integer(uint64_t value) override {
    if (place_ == Place::kDims) {
      if (value > uint64_t{std::numeric_limits<int64_t>::max()}) {
        fail_tensor("an axis of " + std::to_string(value) + " is too large");
      }
      tensor().dims.push_back(static_cast<int64_t>(value));
    } else if (place_ == Place::kOffsetValues) {
      if (offset_count_ == 2) {
        fail_tensor("data_offsets has more than 2 numbers");
      }
      (offset_count_ == 0 ? tensor().begin : tensor().end) = value;
      ++offset_count_;
    } else {
      unexpected("a number");
    }
  }

 protected:
  [[noreturn]] void unexpected(std::string_view found) override {
    const std::string text = "found " + std::string(found) + ", expected ";
    switch (place_) {
      case Place::kFile:
        throw FormatError(at_byte(where_, kLengthBytes) + ": header: " + text + "an object");
      case Place::kTensor:
        fail_tensor(text + "an object with dtype, shape and data_offsets");
      case Place::kMetadata:
        fail("__metadata__", text + "an object of strings");
      case Place::kMetadataValue:
        fail("__metadata__", text + "a string as value of " + quote(header_.metadata.back().first));
      case Place::kDtype:
        fail_tensor("dtype: " + text + "a string");
      case Place::kShape:
      case Place::kDims:
        fail_tensor("shape: " + text + "an array of whole numbers from 0");
      case Place::kOffsets:
      case Place::kOffsetValues:
        fail_tensor("data_offsets: " + text + "an array of two whole numbers from 0");
      case Place::kNames:
      case Place::kFields:
      case Place::kMetadataKeys:
        break;
    }
    throw FormatError(at_byte(where_, kLengthBytes) + ": header: " + text + "a key");
  }

 private:
  // What the next event belongs to.
  enum class Place {
    kFile,
    kNames,
    kTensor,
    kFields,
    kDtype,
    kShape,
    kDims,
    kOffsets,
    kOffsetValues,
    kMetadata,
    kMetadataKeys,
    kMetadataValue
  };

  [[noreturn]] void fail(const std::string& entry, const std::string& what) const {
    throw FormatError(std::string(where_) + ": " + entry + ": " + what);
  }
  [[noreturn]] void fail_tensor(const std::string& what) {
    fail("tensor " + quote(tensor().name), what);
  }
  SafetensorsInfo& tensor() { return header_.tensors.back(); }

  void begin_entry(const std::string& name) {
    if (name == "__metadata__") {
      if (has_metadata_) {
        fail("__metadata__", "appears twice");
      }
      has_metadata_ = true;
      place_ = Place::kMetadata;
      return;
    }
    if (!header_.index.emplace(name, header_.tensors.size()).second) {
      fail("tensor " + quote(name), "appears twice");
    }
    header_.tensors.emplace_back().name = name;
    has_dtype_ = has_shape_ = has_offsets_ = false;
    offset_count_ = 0;
    place_ = Place::kTensor;
  }

  void begin_field(const std::string& name) {
    bool* seen = nullptr;
    if (name == "dtype") {
      seen = &has_dtype_;
      place_ = Place::kDtype;
    } else if (name == "shape") {
      seen = &has_shape_;
      place_ = Place::kShape;
    } else if (name == "data_offsets") {
      seen = &has_offsets_;
      place_ = Place::kOffsets;
    } else {
      fail_tensor("unknown field " + quote(name) + "; allowed are dtype, shape and data_offsets");
    }
    if (*seen) {
      fail_tensor("field " + quote(name) + " appears twice");
    }
    *seen = true;
  }

  void check_fields() {
    if (!has_dtype_ || !has_shape_ || !has_offsets_) {
      fail_tensor(std::string("field '") +
                  (!has_dtype_   ? "dtype"
                   : !has_shape_ ? "shape"
                                 : "data_offsets") +
                  "' is missing");
    }
  }

  SafetensorsHeader& header_;
  std::string_view where_;
  Place place_ = Place::kFile;
  std::unordered_set<std::string> metadata_keys_;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  size_t offset_count_ = 0;
};

// Bytes that dtype and shape stand for; nothing when they are no whole number or exceed 64 bits.
std::optional<uint64_t> wanted_bytes(const SafetensorsInfo& info) {
  uint64_t bits = info.type.bits;
  for (const int64_t dim : info.dims) {
    const auto axis = static_cast<uint64_t>(dim);
    if (axis != 0 && bits > std::numeric_limits<uint64_t>::max() / axis) {
      return std::nullopt;
    }
    bits *= axis;
  }
  return bits % 8 == 0 ? std::optional<uint64_t>(bits / 8) : std::nullopt;
}

void check_size(const SafetensorsInfo& info, uint64_t data_bytes, std::string_view where) {
  const std::string place = std::string(where) + ": tensor " + quote(info.name) + ": ";
  const std::string range =
      "data_offsets [" + std::to_string(info.begin) + ", " + std::to_string(info.end) + "]";
  if (info.begin > info.end) {
    throw FormatError(place + range + " end before they begin");
  }
  if (info.end > data_bytes) {
    throw FormatError(place + range + " reach beyond the " + std::to_string(data_bytes) +
                      " bytes of data");
  }
  const std::optional<uint64_t> wanted = wanted_bytes(info);
  if (!wanted.has_value()) {
    throw FormatError(place + "dtype " + std::string(info.type.name) +
                      " and shape give no 64-bit whole number of bytes");
  }
  if (*wanted != info.end - info.begin) {
    throw FormatError(place + range + " hold " + std::to_string(info.end - info.begin) +
                      " bytes, but dtype and shape need " + std::to_string(*wanted));
  }
}

void check_coverage(const SafetensorsHeader& header, uint64_t data_bytes, std::string_view where) {
  std::vector<size_t> order(header.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const SafetensorsInfo& left = header.tensors[a];
    const SafetensorsInfo& right = header.tensors[b];
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  uint64_t covered = 0;
  for (const size_t i : order) {
    const SafetensorsInfo& info = header.tensors[i];
    if (info.begin != covered) {
      throw FormatError(std::string(where) + ": tensor " + quote(info.name) + ": data begins at " +
                        std::to_string(info.begin) + ", but the tensors before it end at " +
                        std::to_string(covered) +
                        (info.begin > covered ? " (a hole)" : " (an overlap)"));
    }
    covered = info.end;
  }
  if (covered != data_bytes) {
    throw FormatError(at_byte(where, header.data_start + covered) + ": " +
                      std::to_string(data_bytes - covered) + " bytes after the last tensor");
  }
}

}  // namespace

std::span<const SafetensorsType> safetensors_types() {
  return kTypes;
}

SafetensorsHeader parse_safetensors_header(std::string_view bytes, std::string_view where) {
  if (bytes.size() < kLengthBytes) {
    throw FormatError(at_byte(where, bytes.size()) +
                      ": not a safetensors file; it ends within the 8 bytes of the header length");
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  if (length > kMaxSafetensorsHeaderBytes) {
    throw FormatError(at_byte(where, 0) + ": not a safetensors file; header length " +
                      std::to_string(length) + " is above the limit of " +
                      std::to_string(kMaxSafetensorsHeaderBytes));
  }
  if (length > bytes.size() - kLengthBytes) {
    throw FormatError(at_byte(where, 0) + ": header length " + std::to_string(length) +
                      ", but the file has only " + std::to_string(bytes.size() - kLengthBytes) +
                      " more bytes");
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  if (text.empty() || text[0] != '{') {
    throw FormatError(at_byte(where, kLengthBytes) + ": header does not start with '{'");
  }
  SafetensorsHeader header;
  header.data_start = kLengthBytes + length;
  HeaderReader reader(header, where);
  read_json_events(text, where, kLengthBytes, reader);
  const uint64_t data_bytes = bytes.size() - header.data_start;
  for (const SafetensorsInfo& info : header.tensors) {
    check_size(info, data_bytes, where);
  }
  check_coverage(header, data_bytes, where);
  return header;
}

}  // namespace netcl::core
