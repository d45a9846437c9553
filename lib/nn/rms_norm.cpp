// SPDX-License-Identifier: Apache-2.0
#include "nn/rms_norm.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "core/kernel.h"

namespace netcl::nn {

using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;

namespace {

// Rows of a [..., D] tensor.
int64_t checked_rows(const Shape& x, const Shape& gamma, double eps) {
  if (!(eps >= 0) || !std::isfinite(eps)) {
    throw base::UsageError("rms_norm: eps is " + std::to_string(eps) +
                           "; allowed are finite values from 0");
  }
  const int64_t dim = x.rank() == 0 ? 0 : x[x.rank() - 1];
  if (dim == 0 || gamma != Shape{dim}) {
    throw base::FormatError("rms_norm: x " + x.text() + " and gamma " + gamma.text() +
                            "; gamma needs one value for each column of x");
  }
  return x.count() / dim;
}

void check_storage(std::string_view name, DType dtype) {
  if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
    throw base::FormatError("rms_norm: " + std::string(name) + " is " +
                            std::string(core::dtype_name(dtype)) + "; allowed f32, f16 and bf16");
  }
}

// One row, with sums and results in T.
template <typename T>
void norm_row(const T* x, const T* gamma, size_t dim, T eps, T* y) {
  T sum = 0;
  for (size_t i = 0; i < dim; ++i) {
    sum += x[i] * x[i];
  }
  const T root = std::sqrt(sum / static_cast<T>(dim) + eps);
  for (size_t i = 0; i < dim; ++i) {
    y[i] = x[i] / root * gamma[i];
  }
}

void norm_host(const Tensor& x, const Tensor& gamma, size_t rows, size_t dim, float eps,
               const Tensor& y) {
  constexpr size_t kRowsPerItem = 64;
  const HostTensor from = x.host().to(DType::kF32);
  const HostTensor factors = gamma.host().to(DType::kF32);
  HostTensor to(DType::kF32, y.shape());
  const float* source = from.as<float>().data();
  float* target = to.as<float>().data();
  x.queue().thread_pool().parallel_for(
      (rows + kRowsPerItem - 1) / kRowsPerItem, [&](size_t item, size_t) {
        const size_t end = std::min(rows, (item + 1) * kRowsPerItem);
        for (size_t r = item * kRowsPerItem; r < end; ++r) {
          norm_row(source + r * dim, factors.as<float>().data(), dim, eps, target + r * dim);
        }
      });
  y.write(to.to(y.dtype()));
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& gamma, double eps) {
  NETCL_CHECK(x.queue() == gamma.queue());
  const auto rows = static_cast<size_t>(checked_rows(x.shape(), gamma.shape(), eps));
  check_storage("x", x.dtype());
  check_storage("gamma", gamma.dtype());
  const auto dim = static_cast<size_t>(gamma.shape()[0]);
  Tensor y = Tensor::empty(x.queue(), x.dtype(), x.shape());
  if (x.queue().is_host()) {
    norm_host(x, gamma, rows, dim, static_cast<float>(eps), y);
    return y;
  }
  core::Kernel kernel =
      core::Kernel::get(x.queue(), "rms_norm", "rms_norm",
                        {{"X_TYPE", std::string(core::dtype_name(x.dtype()))},
                         {"GAMMA_TYPE", std::string(core::dtype_name(gamma.dtype()))}});
  const size_t group = std::min(
      {size_t{32}, kernel.max_work_group_size(), x.queue().device().max_work_item_sizes.at(0)});
  kernel.arg(y)
      .arg(x)
      .arg(gamma)
      .arg(static_cast<uint64_t>(rows))
      .arg(static_cast<uint64_t>(dim))
      .arg(static_cast<float>(eps))
      .run({(rows + group - 1) / group * group}, {group});
  return y;
}

HostTensor rms_norm_reference(const HostTensor& x, const HostTensor& gamma, double eps) {
  const auto rows = static_cast<size_t>(checked_rows(x.shape(), gamma.shape(), eps));
  const auto dim = static_cast<size_t>(gamma.shape()[0]);
  const std::vector<double> from = x.to_doubles();
  const std::vector<double> factors = gamma.to_doubles();
  HostTensor y(DType::kF64, x.shape());
  for (size_t r = 0; r < rows; ++r) {
    norm_row(from.data() + r * dim, factors.data(), dim, eps, y.as<double>().data() + r * dim);
  }
  return y;
}

}  // namespace netcl::nn
