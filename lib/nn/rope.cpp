// SPDX-License-Identifier: Apache-2.0
#include "nn/rope.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/thread_pool.h"
#include "core/kernel.h"
#include "kernels/rope_shape.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

namespace {

using base::FormatError;
using base::UsageError;
using core::DType;
using core::HostTensor;
using core::Shape;

// A checked call: the view of x and one position per row.
struct RopeProblem {
  HeadView x;
  int64_t half_dim = 0;
  std::vector<int64_t> positions;
  int64_t position_batch_stride = 0;

  int64_t position(int64_t b, int64_t i) const {
    return positions[static_cast<size_t>(b * position_batch_stride + i)];
  }
};

void check_table_shapes(const Shape& cos, const Shape& sin) {
  if (cos.rank() != 2 || cos[1] < 1) {
    throw FormatError("rope: cos table has shape " + cos.text() +
                      "; wanted [positions, rope_dim / 2]");
  }
  if (!(cos == sin)) {
    throw FormatError("rope: cos table " + cos.text() + " and sin table " + sin.text() +
                      " disagree");
  }
}

RopeProblem make_problem(const Shape& x, const Shape& table, const RopeCall& call) {
  if (call.layout == Layout::kPacked && call.heads < 1) {
    throw UsageError("rope: packed layout with heads " + std::to_string(call.heads) +
                     "; it must be at least 1");
  }
  RopeProblem problem;
  problem.x = view_heads(x, call.layout, call.heads, "rope", "x");
  problem.half_dim = table[1];
  const int64_t limit = table[0];
  if (problem.half_dim > problem.x.width / 2) {
    throw FormatError("rope: x " + x.text() + " has rows of " + std::to_string(problem.x.width) +
                      ", shorter than rope_dim " + std::to_string(2 * problem.half_dim));
  }
  const int64_t length = problem.x.length;
  if (call.positions.empty()) {
    if (length > 0 && (call.offset < 0 || call.offset > limit - length)) {
      throw FormatError("rope: positions " + std::to_string(call.offset) + " and the " +
                        std::to_string(length - 1) +
                        " after it are not all in the table; allowed 0 to " +
                        std::to_string(limit - 1));
    }
    for (int64_t i = 0; i < length; ++i) {
      problem.positions.push_back(call.offset + i);
    }
    return problem;
  }
  const size_t rows = static_cast<size_t>(length);
  const size_t all_rows = rows * static_cast<size_t>(problem.x.batch);
  if (call.offset != 0) {
    throw UsageError("rope: both positions and an offset are given");
  }
  if (call.positions.size() != rows && call.positions.size() != all_rows) {
    throw FormatError("rope: " + std::to_string(call.positions.size()) + " positions for batch " +
                      std::to_string(problem.x.batch) + " of length " + std::to_string(length) +
                      "; give one per row, for all batches or for each");
  }
  for (size_t at = 0; at < call.positions.size(); ++at) {
    if (call.positions[at] < 0 || call.positions[at] >= limit) {
      throw FormatError("rope: position " + std::to_string(call.positions[at]) + " at [" +
                        std::to_string(at / rows) + ", " + std::to_string(at % rows) +
                        "] is not in the table; allowed 0 to " + std::to_string(limit - 1));
    }
  }
  problem.positions = call.positions;
  problem.position_batch_stride = call.positions.size() == rows ? 0 : length;
  return problem;
}

// Rotates one row by the angles of `half_dim` pairs.
void rotate_row(float* row, const float* cos, const float* sin, int64_t half_dim,
                RopePairing pairing) {
  const bool interleaved = pairing == RopePairing::kInterleaved;
  const int64_t step = interleaved ? 2 : 1;
  const int64_t apart = interleaved ? 1 : half_dim;
  for (int64_t c = 0; c < half_dim; ++c) {
    const float a = row[c * step];
    const float b = row[c * step + apart];
    row[c * step] = a * cos[c] - b * sin[c];
    row[c * step + apart] = a * sin[c] + b * cos[c];
  }
}

// Rows of [B, T] share a position: one item of the pool rotates all heads of one.
void rope_host(const RopeProblem& problem, const HostTensor& x, const RopeTable& table,
               RopePairing pairing, base::ThreadPool& pool, HostTensor& y) {
  const float* const cos = table.cos().host().as<float>().data();
  const float* const sin = table.sin().host().as<float>().data();
  const size_t element_bytes = core::dtype_size(x.dtype());
  const size_t width = static_cast<size_t>(problem.x.width);
  std::vector<std::vector<float>> rows(pool.thread_count(), std::vector<float>(width));
  const int64_t length = problem.x.length;
  const int64_t items = problem.x.batch * length;
  pool.parallel_for(static_cast<size_t>(items), [&](size_t item, size_t thread) {
    const int64_t b = static_cast<int64_t>(item) / length;
    const int64_t i = static_cast<int64_t>(item) % length;
    const int64_t at = problem.position(b, i) * problem.half_dim;
    float* const row = rows[thread].data();
    for (int64_t h = 0; h < problem.x.heads; ++h) {
      const size_t byte = static_cast<size_t>(problem.x.strides.at(b, h, i)) * element_bytes;
      core::convert_elements(x.data() + byte, x.dtype(), reinterpret_cast<std::byte*>(row),
                             DType::kF32, width);
      rotate_row(row, cos + at, sin + at, problem.half_dim, pairing);
      core::convert_elements(reinterpret_cast<const std::byte*>(row), DType::kF32, y.data() + byte,
                             y.dtype(), width);
    }
  });
}

void rope_opencl(const RopeProblem& problem, const core::Tensor& x, const RopeTable& table,
                 RopePairing pairing, const core::Tensor& y) {
  const core::Queue& queue = x.queue();
  core::Kernel kernel =
      core::Kernel::get(queue, "rope", "rope",
                        {{"X_TYPE", std::string(core::dtype_name(x.dtype()))},
                         {"INTERLEAVED", pairing == RopePairing::kInterleaved ? "1" : "0"}});
  const core::Tensor positions = core::Tensor::from_host(
      queue, HostTensor::from_int64s(Shape{static_cast<int64_t>(problem.positions.size())},
                                     problem.positions));
  RopeShape shape;
  shape.batch = problem.x.batch;
  shape.heads = problem.x.heads;
  shape.length = problem.x.length;
  shape.width = problem.x.width;
  shape.half_dim = problem.half_dim;
  shape.batch_stride = problem.x.strides.batch;
  shape.head_stride = problem.x.strides.head;
  shape.row_stride = problem.x.strides.row;
  shape.position_batch_stride = problem.position_batch_stride;
  const size_t slots = static_cast<size_t>(problem.x.width - problem.half_dim);
  const size_t group = std::min({std::bit_ceil(slots), size_t{64}, kernel.max_work_group_size()});
  kernel.arg(y).arg(x).arg(table.cos()).arg(table.sin()).arg(positions).arg(shape);
  kernel.run({static_cast<size_t>(problem.x.length), (slots + group - 1) / group * group,
              static_cast<size_t>(problem.x.batch)},
             {1, group, 1});
}

RopeFrequencies scaled_frequencies(const RopeOptions& options, int64_t rope_dim) {
  try {
    return rope_frequencies(options.scaling, options.theta, rope_dim, options.sequence_length);
  } catch (const FormatError& error) {
    throw FormatError(std::string("rope: ") + error.what());
  }
}

}  // namespace

std::string_view rope_pairing_name(RopePairing pairing) {
  return pairing == RopePairing::kHalf ? "half" : "interleaved";
}

RopeAngles rope_angles(const RopeOptions& options) {
  if (!std::isfinite(options.theta) || options.theta <= 0) {
    throw UsageError("rope: theta is " + std::to_string(options.theta) +
                     "; it must be finite and > 0");
  }
  if (options.max_positions < 0) {
    throw UsageError("rope: max_positions is " + std::to_string(options.max_positions));
  }
  if (options.rope_dim == 0 && (options.head_dim < 2 || options.head_dim % 2 != 0)) {
    throw FormatError("rope: head_dim is " + std::to_string(options.head_dim) +
                      "; pairs need an even number, or a rope_dim below it");
  }
  const int64_t rope_dim = options.rope_dim == 0 ? options.head_dim : options.rope_dim;
  if (rope_dim < 2 || rope_dim % 2 != 0 || rope_dim > options.head_dim) {
    throw UsageError("rope: rope_dim is " + std::to_string(rope_dim) +
                     "; it must be even, from 2 to head_dim " + std::to_string(options.head_dim));
  }
  const int64_t half_dim = rope_dim / 2;
  const Shape shape{options.max_positions, half_dim};
  RopeAngles angles{HostTensor(DType::kF64, shape), HostTensor(DType::kF64, shape)};
  double* const cos = angles.cos.as<double>().data();
  double* const sin = angles.sin.as<double>().data();
  const RopeFrequencies frequencies = scaled_frequencies(options, rope_dim);
  const double factor = frequencies.attention_factor;
  for (int64_t c = 0; c < half_dim; ++c) {
    const double frequency = frequencies.radians[static_cast<size_t>(c)];
    for (int64_t position = 0; position < options.max_positions; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cos[position * half_dim + c] = factor * std::cos(angle);
      sin[position * half_dim + c] = factor * std::sin(angle);
    }
  }
  return angles;
}

RopeTable::RopeTable(const core::Queue& queue, const RopeOptions& options)
    : cos_(core::Tensor::empty(queue, DType::kF32, {0, 0})), sin_(cos_) {
  const RopeAngles angles = rope_angles(options);
  *this = RopeTable(queue, angles.cos, angles.sin);
}

RopeTable::RopeTable(const core::Queue& queue, const HostTensor& cos, const HostTensor& sin)
    : cos_(core::Tensor::empty(queue, DType::kF32, {0, 0})), sin_(cos_) {
  check_table_shapes(cos.shape(), sin.shape());
  if (!core::is_floating(cos.dtype()) || !core::is_floating(sin.dtype())) {
    throw FormatError("rope: cos and sin tables are " + std::string(core::dtype_name(cos.dtype())) +
                      " and " + std::string(core::dtype_name(sin.dtype())) +
                      "; wanted a floating type");
  }
  cos_ = core::Tensor::from_host(queue, cos.to(DType::kF32));
  sin_ = core::Tensor::from_host(queue, sin.to(DType::kF32));
}

core::Tensor apply_rope(const core::Tensor& x, const RopeTable& table, const RopeCall& call) {
  if (x.dtype() != DType::kF32 && x.dtype() != DType::kF16 && x.dtype() != DType::kBF16) {
    throw FormatError("rope: x has type " + std::string(core::dtype_name(x.dtype())) +
                      "; allowed f32, f16 and bf16");
  }
  if (!(x.queue() == table.cos().queue())) {
    throw UsageError("rope: x and the table are on different queues");
  }
  const RopeProblem problem = make_problem(x.shape(), table.cos().shape(), call);
  core::Tensor y = core::Tensor::empty(x.queue(), x.dtype(), x.shape());
  if (x.count() == 0) {
    return y;
  }
  if (x.queue().is_host()) {
    rope_host(problem, x.host(), table, call.pairing, x.queue().thread_pool(), y.host());
  } else {
    rope_opencl(problem, x, table, call.pairing, y);
  }
  return y;
}

HostTensor rope_reference(const HostTensor& x, const HostTensor& cos, const HostTensor& sin,
                          const RopeCall& call) {
  check_table_shapes(cos.shape(), sin.shape());
  const RopeProblem problem = make_problem(x.shape(), cos.shape(), call);
  HostTensor y = x.to(DType::kF64);
  if (x.count() == 0) {
    return y;
  }
  const std::vector<double> from = y.to_doubles();
  const std::vector<double> cosines = cos.to_doubles();
  const std::vector<double> sines = sin.to_doubles();
  for (int64_t b = 0; b < problem.x.batch; ++b) {
    for (int64_t h = 0; h < problem.x.heads; ++h) {
      for (int64_t i = 0; i < problem.x.length; ++i) {
        for (int64_t c = 0; c < problem.half_dim; ++c) {
          const bool half = call.pairing == RopePairing::kHalf;
          const int64_t row = problem.x.strides.at(b, h, i);
          const size_t first = static_cast<size_t>(row + (half ? c : 2 * c));
          const size_t second =
              static_cast<size_t>(row + (half ? c + problem.half_dim : 2 * c + 1));
          const size_t at = static_cast<size_t>(problem.position(b, i) * problem.half_dim + c);
          y.as<double>()[first] = from[first] * cosines[at] - from[second] * sines[at];
          y.as<double>()[second] = from[first] * sines[at] + from[second] * cosines[at];
        }
      }
    }
  }
  return y;
}

}  // namespace netcl::nn
