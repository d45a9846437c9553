// SPDX-License-Identifier: Apache-2.0
#include "core/json_tensor_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "core/json_events.h"

namespace netcl::core {

namespace {

using base::FormatError;
using base::quote;

// Walks the structure of a tensor file. The two passes differ in what they do with elements.
class TensorEvents : public JsonEvents {
 public:
  explicit TensorEvents(std::string_view where) : where_(where) {}

  void begin_object() override {
    if (place_ != Place::kFile) {
      unexpected("an object");
    }
    place_ = Place::kFields;
  }
  void end_object() override { place_ = Place::kFile; }

  void key(const std::string& name) override {
    bool* seen = nullptr;
    if (name == "dtype") {
      seen = &has_dtype_;
      place_ = Place::kDtype;
    } else if (name == "shape") {
      seen = &has_shape_;
      place_ = Place::kShape;
    } else if (name == "data") {
      seen = &has_data_;
      place_ = Place::kData;
    } else {
      fail("unknown field " + quote(name) + "; allowed are dtype, shape and data");
    }
    if (*seen) {
      fail("field '" + name + "' appears twice");
    }
    *seen = true;
  }

  void begin_array() override {
    if (place_ == Place::kShape) {
      place_ = Place::kDims;
    } else if (place_ == Place::kData) {
      place_ = Place::kElements;
    } else {
      unexpected("an array");
    }
  }
  void end_array() override { place_ = Place::kFields; }

  void string(const std::string& text) override {
    if (place_ == Place::kDtype) {
      dtype(text);
      place_ = Place::kFields;
    } else if (place_ == Place::kElements) {
      element_string(text);
      ++elements_;
    } else {
      unexpected("a string");
    }
  }
  void boolean(bool value) override {
    need_element("true or false");
    element_boolean(value);
    ++elements_;
  }
  void unsigned_integer(uint64_t value) override {
    if (place_ == Place::kDims) {
      dim(value);
      return;
    }
    need_element("a number");
    element_unsigned(value);
    ++elements_;
  }
  void signed_integer(int64_t value) override {
    need_element("a negative number");
    element_signed(value);
    ++elements_;
  }
  void real(double value, const std::string& digits) override {
    need_element("a number that is not whole");
    element_real(value, digits);
    ++elements_;
  }

 protected:
  virtual void dtype(const std::string& /*name*/) {}
  virtual void dim(uint64_t /*value*/) {}
  virtual void element_string(const std::string& /*text*/) {}
  virtual void element_boolean(bool /*value*/) {}
  virtual void element_unsigned(uint64_t /*value*/) {}
  virtual void element_signed(int64_t /*value*/) {}
  virtual void element_real(double /*value*/, const std::string& /*digits*/) {}

  [[noreturn]] void unexpected(std::string_view found) override {
    const std::string text = "found " + std::string(found) + ", expected ";
    switch (place_) {
      case Place::kFile:
        fail(text + "an object with dtype, shape and data");
      case Place::kFields:
        fail(text + "a field");
      case Place::kDtype:
        fail("dtype: " + text + "a string");
      case Place::kShape:
      case Place::kDims:
        fail("shape: " + text + "an array of whole numbers from 0");
      case Place::kData:
        fail("data: " + text + "an array");
      case Place::kElements:
        break;
    }
    fail_element(text + "a number; data is flat, row-major");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(std::string(where_) + ": " + what);
  }
  [[noreturn]] void fail_element(const std::string& what) const {
    fail("data[" + std::to_string(elements_) + "]: " + what);
  }

  bool complete() const { return has_dtype_ && has_shape_ && has_data_; }
  const char* missing_field() const {
    return !has_dtype_ ? "dtype" : !has_shape_ ? "shape" : "data";
  }
  uint64_t elements() const { return elements_; }

 private:
  enum class Place { kFile, kFields, kDtype, kShape, kDims, kData, kElements };

  void need_element(std::string_view found) {
    if (place_ != Place::kElements) {
      unexpected(found);
    }
  }

  std::string_view where_;
  Place place_ = Place::kFile;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_data_ = false;
  uint64_t elements_ = 0;
};

// First pass: dtype, shape and the number of elements.
class Outline : public TensorEvents {
 public:
  using TensorEvents::TensorEvents;

  // A zero tensor of the dtype and shape, whose count is the number of elements.
  HostTensor make_tensor() const {
    if (!complete()) {
      fail(std::string("field '") + missing_field() + "' is missing");
    }
    Shape shape;
    try {
      shape = Shape(std::span<const int64_t>(dims_));
    } catch (const FormatError& error) {
      fail(error.what());
    }
    if (static_cast<uint64_t>(shape.count()) != elements()) {
      fail("shape " + shape.text() + " has " + std::to_string(shape.count()) +
           " elements, but data has " + std::to_string(elements()));
    }
    return HostTensor(*dtype_, shape);
  }

 protected:
  void dtype(const std::string& name) override {
    dtype_ = find_dtype(name);
    if (!dtype_.has_value()) {
      fail("dtype " + quote(name, 20) +
           " is unknown; allowed are f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool");
    }
  }
  void dim(uint64_t value) override {
    if (value > uint64_t{std::numeric_limits<int64_t>::max()}) {
      fail("shape: an axis of " + std::to_string(value) + " is too large");
    }
    if (dims_.size() == Shape::kMaxRank) {
      fail("shape: more than " + std::to_string(Shape::kMaxRank) + " axes");
    }
    dims_.push_back(static_cast<int64_t>(value));
  }

 private:
  std::optional<DType> dtype_;
  std::vector<int64_t> dims_;
};

// Second pass: the elements into the tensor.
class Filler : public TensorEvents {
 public:
  Filler(std::string_view where, HostTensor& tensor) : TensorEvents(where), tensor_(tensor) {}

 protected:
  void element_string(const std::string& text) override {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (!is_floating(tensor_.dtype())) {
      fail_element("found " + quote(text, 20) + ", expected " + wanted());
    }
    if (text == "NaN") {
      put(std::numeric_limits<double>::quiet_NaN(), DType::kF64);
    } else if (text == "Infinity" || text == "-Infinity") {
      put(text[0] == '-' ? -kInfinity : kInfinity, DType::kF64);
    } else {
      fail_element(quote(text, 20) + " is no number; allowed strings are NaN, Infinity, -Infinity");
    }
  }

  void element_boolean(bool value) override {
    if (tensor_.dtype() != DType::kBool) {
      fail_element("found true or false, expected " + wanted());
    }
    put(static_cast<uint8_t>(value ? 1 : 0), DType::kU8);
  }

  void element_unsigned(uint64_t value) override {
    if (tensor_.dtype() == DType::kBool && value > 1) {
      fail_element("found " + std::to_string(value) + ", expected " + wanted());
    }
    put(value, DType::kU64);
    check_finite(std::to_string(value));
  }

  void element_signed(int64_t value) override {
    if (tensor_.dtype() == DType::kBool) {
      fail_element("found a negative number, expected " + wanted());
    }
    if (value == 0) {  // the text is -0
      put(is_floating(tensor_.dtype()) ? -0.0 : 0.0, DType::kF64);
      return;
    }
    put(value, DType::kI64);
    check_finite(std::to_string(value));
  }

  void element_real(double value, const std::string& digits) override {
    if (!is_floating(tensor_.dtype())) {
      fail_element("found " + quote(digits, 40) + ", expected " + wanted());
    }
    if (tensor_.dtype() == DType::kF32) {
      put(nearest_float(value, digits), DType::kF32);
    } else {
      put(value, DType::kF64);
    }
    check_finite(digits);
  }

 private:
  std::string wanted() const {
    return tensor_.dtype() == DType::kBool
               ? "true, false, 0 or 1"
               : "a whole number for " + std::string(dtype_name(tensor_.dtype()));
  }

  // The float nearest to the decimal text; rounding the double would round twice.
  static float nearest_float(double value, const std::string& digits) {
    float result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    return error == std::errc() && end == digits.data() + digits.size() ? result
                                                                        : static_cast<float>(value);
  }

  template <typename T>
  void put(T value, DType type) {
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    try {
      convert_elements(bytes.data(), type, slot(), tensor_.dtype(), 1);
    } catch (const FormatError& error) {
      // "element 0: 300 is not representable ...": only this reader knows the index.
      const std::string text = error.what();
      fail_element(text.substr(text.find(": ") + 2));
    }
  }

  // A finite number of the text must not have become infinity.
  void check_finite(const std::string& digits) const {
    if (is_floating(tensor_.dtype())) {
      double value = 0;
      convert_elements(slot(), tensor_.dtype(), reinterpret_cast<std::byte*>(&value), DType::kF64,
                       1);
      if (std::isinf(value)) {
        fail_element(quote(digits, 40) + " is beyond the range of " +
                     std::string(dtype_name(tensor_.dtype())));
      }
    }
  }

  std::byte* slot() const { return tensor_.data() + elements() * dtype_size(tensor_.dtype()); }

  HostTensor& tensor_;
};

template <typename T>
void append_number(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      out += "\"NaN\"";
      return;
    }
    if (std::isinf(value)) {
      out += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
      return;
    }
    if (value == 0 && std::signbit(value)) {
      out += "-0.0";
      return;
    }
  }
  std::array<char, 40> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), result.ptr);
}

template <typename T>
void append_numbers(std::string& out, const HostTensor& tensor) {
  bool first = true;
  for (const T value : tensor.as<T>()) {
    out += first ? "" : ",";
    first = false;
    append_number(out, value);
  }
}

void append_bools(std::string& out, const HostTensor& tensor) {
  bool first = true;
  for (const uint8_t value : tensor.as<uint8_t>()) {
    out += first ? "" : ",";
    first = false;
    out += value != 0 ? "true" : "false";
  }
}

}  // namespace

HostTensor read_json_tensor(const std::string& path) {
  const auto file = base::FileBytes::open_large(path);
  return parse_json_tensor(file.view(), file.path());
}

HostTensor parse_json_tensor(std::string_view text, std::string_view where) {
  Outline outline(where);
  read_json_events(text, where, 0, outline);
  HostTensor tensor = outline.make_tensor();
  Filler filler(where, tensor);
  read_json_events(text, where, 0, filler);
  return tensor;
}

std::string json_tensor_text(const HostTensor& tensor) {
  std::string out = "{\"dtype\":\"" + std::string(dtype_name(tensor.dtype())) + "\",\"shape\":[";
  for (size_t axis = 0; axis < tensor.shape().rank(); ++axis) {
    out.append(axis == 0 ? "" : ",").append(std::to_string(tensor.shape()[axis]));
  }
  out += "],\"data\":[";
  switch (tensor.dtype()) {
    case DType::kF64:
      append_numbers<double>(out, tensor);
      break;
    case DType::kF32:
      append_numbers<float>(out, tensor);
      break;
    case DType::kF16:
    case DType::kBF16:
      append_numbers<float>(out, tensor.to(DType::kF32));
      break;
    case DType::kU64:
      append_numbers<uint64_t>(out, tensor);
      break;
    case DType::kBool:
      append_bools(out, tensor);
      break;
    default:
      append_numbers<int64_t>(out, tensor.to(DType::kI64));
      break;
  }
  return out + "]}\n";
}

void write_json_tensor(const std::string& path, const HostTensor& tensor) {
  base::write_file(path, json_tensor_text(tensor));
}

}  // namespace netcl::core
