// SPDX-License-Identifier: Apache-2.0
#include "core/npy_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "core/element_bytes.h"
#include "core/npy_header.h"

namespace netcl::core {

namespace {

using base::at_byte;
using base::FormatError;

// The shape with its axes in reverse: Fortran order is row-major order of that shape.
Shape reversed(const Shape& shape) {
  std::array<int64_t, Shape::kMaxRank> dims{};
  std::reverse_copy(shape.dims().begin(), shape.dims().end(), dims.begin());
  return Shape(std::span<const int64_t>(dims.data(), shape.rank()));
}

void check_data_size(const NpyHeader& header, std::string_view bytes, std::string_view where) {
  const size_t have = bytes.size() - header.data_start;
  const size_t size = dtype_size(header.dtype);
  const auto count = static_cast<size_t>(header.shape.count());
  const std::string claim =
      "shape " + header.shape.text() + " of " + std::string(dtype_name(header.dtype));
  if (count > have / size) {
    throw FormatError(at_byte(where, bytes.size()) + ": the data ends early; " + claim +
                      " needs more than the " + std::to_string(have) + " bytes there are");
  }
  if (count * size != have) {
    throw FormatError(at_byte(where, header.data_start + count * size) + ": " +
                      std::to_string(have - count * size) + " bytes after the data; " + claim +
                      " has " + std::to_string(count * size) +
                      "; give a file of exactly one array");
  }
}

// Refuses what has no npy type and returns the header.
std::string header_for(const HostTensor& tensor, std::string_view where) {
  if (tensor.dtype() == DType::kBF16) {
    throw base::UsageError(std::string(where) +
                           ": .npy has no bf16 type; write .safetensors, or f32");
  }
  return npy_header_bytes(tensor.dtype(), tensor.shape());
}

template <typename Sink>
void put_little_endian(const HostTensor& tensor, Sink&& sink) {
  if constexpr (std::endian::native == std::endian::big) {
    HostTensor swapped = tensor;
    swap_byte_order(swapped);
    sink(swapped);
  } else {
    sink(tensor);
  }
}

}  // namespace

HostTensor read_npy(const std::string& path) {
  const auto file = base::FileBytes::open_large(path);
  return parse_npy(file.view(), file.path());
}

HostTensor parse_npy(std::string_view bytes, std::string_view where) {
  const NpyHeader header = parse_npy_header(bytes, where);
  check_data_size(header, bytes, where);
  const bool reorder = header.fortran_order && header.shape.rank() > 1;
  HostTensor tensor(header.dtype, reorder ? reversed(header.shape) : header.shape);
  if (tensor.byte_count() > 0) {
    std::memcpy(tensor.data(), bytes.data() + header.data_start, tensor.byte_count());
  }
  check_bools(tensor, where, header.data_start);
  if (header.big_endian != (std::endian::native == std::endian::big)) {
    swap_byte_order(tensor);
  }
  if (!reorder) {
    return tensor;
  }
  std::array<size_t, Shape::kMaxRank> order{};
  const size_t rank = header.shape.rank();
  std::iota(order.begin(), order.begin() + rank, size_t{0});
  std::reverse(order.begin(), order.begin() + rank);
  return tensor.permuted({order.data(), rank});
}

std::string npy_bytes(const HostTensor& tensor, std::string_view where) {
  std::string bytes = header_for(tensor, where);
  put_little_endian(tensor, [&](const HostTensor& data) {
    bytes.append(reinterpret_cast<const char*>(data.data()), data.byte_count());
  });
  return bytes;
}

void write_npy(const std::string& path, const HostTensor& tensor) {
  const bool is_standard_output = path.empty() || path == "-";
  const std::string header = header_for(tensor, is_standard_output ? "<stdout>" : path);
  base::OutputFile out(path);
  out.write(header);
  put_little_endian(tensor, [&](const HostTensor& data) {
    out.write(std::span<const std::byte>(data.data(), data.byte_count()));
  });
  out.commit();
}

}  // namespace netcl::core
