// SPDX-License-Identifier: Apache-2.0
#include "nn/linear.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "nn/attention_tile.h"
#include "nn/gemm.h"

namespace netcl::nn {

using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;

namespace {

constexpr int64_t kTileRows = 64;
constexpr int64_t kTileColumns = 64;
static_assert(kTileColumns % kTileWidthAlign == 0);

struct LinearSizes {
  int64_t rows = 1, in = 0, out = 0;
  Shape y_shape;
};

LinearSizes linear_sizes(const Shape& x, const Shape& weight, const Shape* bias,
                         WeightLayout layout) {
  if (x.rank() == 0 || weight.rank() != 2) {
    throw base::FormatError("linear: x " + x.text() + " and weight " + weight.text() +
                            "; x needs at least one axis and the weight two");
  }
  const bool out_in = layout == WeightLayout::kOutIn;
  LinearSizes sizes;
  sizes.in = x[x.rank() - 1];
  sizes.out = weight[out_in ? 0 : 1];
  if (weight[out_in ? 1 : 0] != sizes.in) {
    throw base::FormatError("linear: x " + x.text() + " has " + std::to_string(sizes.in) +
                            " columns, the weight " + weight.text() + " takes " +
                            std::to_string(weight[out_in ? 1 : 0]));
  }
  if (bias != nullptr && (bias->rank() != 1 || (*bias)[0] != sizes.out)) {
    throw base::FormatError("linear: bias " + bias->text() + " beside a weight " + weight.text() +
                            " with " + std::to_string(sizes.out) + " outputs");
  }
  std::vector<int64_t> dims(x.dims().begin(), x.dims().end());
  for (size_t axis = 0; axis + 1 < dims.size(); ++axis) {
    sizes.rows *= dims[axis];
  }
  dims.back() = sizes.out;
  sizes.y_shape = Shape(std::span<const int64_t>(dims));
  return sizes;
}

void check_storage(std::string_view name, DType dtype) {
  if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
    throw base::FormatError("linear: " + std::string(name) + " is " +
                            std::string(core::dtype_name(dtype)) + "; allowed f32, f16 and bf16");
  }
}

// The f32 elements of a tensor: its own, or those of `copy`, which receives them.
const float* float_elements(const HostTensor& tensor, HostTensor& copy) {
  if (tensor.dtype() == DType::kF32) {
    return tensor.as<float>().data();
  }
  copy = tensor.to(DType::kF32);
  return copy.as<float>().data();
}

struct HostLinear {
  LinearSizes sizes;
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // may be null
  bool out_in = true;
  float* y = nullptr;  // [rows, out]
};

// Tiles of one thread, as attention_tile.h wants them.
struct Scratch {
  HostTensor x{DType::kF32, {kTileRows, kTileKeys}};
  HostTensor weight{DType::kF32, {kTileKeys, kTileColumns}};
  HostTensor sums{DType::kF32, {kTileRows, kTileColumns}};
};

// Rows [k0, k0 + depth) of the weight, seen as [in, out], columns [first, first + columns).
void pack_weight(const HostLinear& call, int64_t k0, int64_t depth, int64_t first, int64_t columns,
                 float* to) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t k = 0; k < depth; ++k) {
      to[k * kTileColumns + c] = call.out_in ? call.weight[(first + c) * call.sizes.in + k0 + k]
                                             : call.weight[(k0 + k) * call.sizes.out + first + c];
    }
  }
}

void host_tile(const HostLinear& call, int64_t first_row, int64_t first_column, Scratch& scratch) {
  const LinearSizes& sizes = call.sizes;
  const int64_t rows = std::min(kTileRows, sizes.rows - first_row);
  const int64_t columns = std::min(kTileColumns, sizes.out - first_column);
  float* x_tile = scratch.x.as<float>().data();
  float* weight_tile = scratch.weight.as<float>().data();
  float* sums = scratch.sums.as<float>().data();
  static constexpr std::array<float, kTileRows> kKeep = [] {
    std::array<float, kTileRows> ones{};
    ones.fill(1);
    return ones;
  }();
  std::fill_n(sums, kTileRows * kTileColumns, 0.0F);
  std::fill_n(weight_tile, kTileKeys * kTileColumns, 0.0F);
  for (int64_t k0 = 0; k0 < sizes.in; k0 += kTileKeys) {
    const int64_t depth = std::min(kTileKeys, sizes.in - k0);
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(call.x + (first_row + r) * sizes.in + k0, depth, x_tile + r * kTileKeys);
    }
    pack_weight(call, k0, depth, first_column, columns, weight_tile);
    tile_functions().accumulate(x_tile, rows, kKeep.data(), weight_tile, depth, kTileColumns, sums);
  }
  for (int64_t r = 0; r < rows; ++r) {
    float* y = call.y + (first_row + r) * sizes.out + first_column;
    for (int64_t c = 0; c < columns; ++c) {
      const float value = sums[r * kTileColumns + c];
      y[c] = call.bias == nullptr ? value : value + call.bias[first_column + c];
    }
  }
}

void host_linear(const HostLinear& call, base::ThreadPool& pool) {
  const int64_t row_tiles = (call.sizes.rows + kTileRows - 1) / kTileRows;
  const int64_t column_tiles = (call.sizes.out + kTileColumns - 1) / kTileColumns;
  std::vector<Scratch> scratch(pool.thread_count());
  pool.parallel_for(static_cast<size_t>(row_tiles * column_tiles), [&](size_t item, size_t thread) {
    const auto tile = static_cast<int64_t>(item);
    host_tile(call, tile / column_tiles * kTileRows, tile % column_tiles * kTileColumns,
              scratch[thread]);
  });
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const LinearOptions& options) {
  NETCL_CHECK(x.queue() == weight.queue() && (!bias || bias->queue() == x.queue()));
  const LinearSizes sizes =
      linear_sizes(x.shape(), weight.shape(), bias ? &bias->shape() : nullptr, options.layout);
  const DType y_dtype = options.y_dtype.value_or(x.dtype());
  check_storage("x", x.dtype());
  check_storage("weight", weight.dtype());
  check_storage("y", y_dtype);
  if (bias) {
    check_storage("bias", bias->dtype());
  }
  const bool out_in = options.layout == WeightLayout::kOutIn;
  Tensor y = Tensor::empty(x.queue(), y_dtype, sizes.y_shape);
  if (!x.queue().is_host()) {
    run_gemm({y, x, weight, bias, out_in, sizes.rows, sizes.out, sizes.in});
    return y;
  }
  HostTensor x_copy;
  HostTensor weight_copy;
  HostTensor bias_copy;
  HostTensor result(DType::kF32, sizes.y_shape);
  HostLinear call;
  call.sizes = sizes;
  call.x = float_elements(x.host(), x_copy);
  call.weight = float_elements(weight.host(), weight_copy);
  call.bias = bias ? float_elements(bias->host(), bias_copy) : nullptr;
  call.out_in = out_in;
  call.y = result.as<float>().data();
  host_linear(call, x.queue().thread_pool());
  y.write(y_dtype == DType::kF32 ? result : result.to(y_dtype));
  return y;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.shape().rank() != 2) {
    throw base::FormatError("matmul: a is " + a.shape().text() + "; allowed is a matrix [M, K]");
  }
  return linear(a, b, std::nullopt, {WeightLayout::kInOut, std::nullopt});
}

HostTensor linear_reference(const HostTensor& x, const HostTensor& weight, const HostTensor* bias,
                            WeightLayout layout) {
  const LinearSizes sizes =
      linear_sizes(x.shape(), weight.shape(), bias != nullptr ? &bias->shape() : nullptr, layout);
  const std::vector<double> x_values = x.to_doubles();
  const std::vector<double> weights = weight.to_doubles();
  const std::vector<double> offsets = bias != nullptr ? bias->to_doubles() : std::vector<double>();
  HostTensor y(DType::kF64, sizes.y_shape);
  const std::span<double> result = y.as<double>();
  for (int64_t r = 0; r < sizes.rows; ++r) {
    for (int64_t c = 0; c < sizes.out; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < sizes.in; ++k) {
        const int64_t at = layout == WeightLayout::kOutIn ? c * sizes.in + k : k * sizes.out + c;
        sum += x_values[static_cast<size_t>(r * sizes.in + k)] * weights[static_cast<size_t>(at)];
      }
      result[static_cast<size_t>(r * sizes.out + c)] =
          offsets.empty() ? sum : sum + offsets[static_cast<size_t>(c)];
    }
  }
  return y;
}

}  // namespace netcl::nn
