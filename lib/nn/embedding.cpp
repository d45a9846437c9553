// SPDX-License-Identifier: Apache-2.0
#include "nn/embedding.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "core/kernel.h"

namespace netcl::nn {

using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;

namespace {

std::vector<int64_t> checked_ids(const HostTensor& ids, int64_t rows) {
  if (core::is_floating(ids.dtype()) || ids.dtype() == DType::kBool) {
    throw base::FormatError("embedding: ids are " + std::string(core::dtype_name(ids.dtype())) +
                            "; allowed are integer types");
  }
  if (ids.dtype() == DType::kU64) {  // some do not fit int64_t
    const std::span<const uint64_t> values = ids.as<uint64_t>();
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] >= static_cast<uint64_t>(rows)) {
        throw base::FormatError("embedding: id " + std::to_string(values[i]) + " at position " +
                                std::to_string(i) + "; the table has " + std::to_string(rows) +
                                " rows");
      }
    }
  }
  std::vector<int64_t> values = ids.to_int64s();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= rows) {
      throw base::FormatError("embedding: id " + std::to_string(values[i]) + " at position " +
                              std::to_string(i) + "; the table has " + std::to_string(rows) +
                              " rows");
    }
  }
  return values;
}

const char* element_macro(size_t bytes) {
  switch (bytes) {
    case 1:
      return "uchar";
    case 2:
      return "ushort";
    case 4:
      return "uint";
    default:
      NETCL_CHECK(bytes == 8);
      return "ulong";
  }
}

void copy_rows_host(const Tensor& table, const std::vector<int64_t>& ids, size_t row_bytes,
                    const Tensor& out) {
  constexpr size_t kRowsPerItem = 64;
  const std::byte* from = table.host().data();
  std::byte* to = out.host().data();
  const size_t items = (ids.size() + kRowsPerItem - 1) / kRowsPerItem;
  table.queue().thread_pool().parallel_for(items, [&](size_t item, size_t) {
    const size_t end = std::min(ids.size(), (item + 1) * kRowsPerItem);
    for (size_t i = item * kRowsPerItem; i < end; ++i) {
      std::memcpy(to + i * row_bytes, from + static_cast<size_t>(ids[i]) * row_bytes, row_bytes);
    }
  });
}

void copy_rows_device(const Tensor& table, const std::vector<int64_t>& ids, int64_t dim,
                      const Tensor& out) {
  const core::Queue& queue = table.queue();
  const Tensor ids_tensor =
      Tensor::from_host(queue, HostTensor::from_int64s({static_cast<int64_t>(ids.size())}, ids));
  core::Kernel kernel =
      core::Kernel::get(queue, "embedding", "embedding",
                        {{"ELEMENT", element_macro(core::dtype_size(table.dtype()))}});
  const size_t group = std::min(
      {size_t{64}, kernel.max_work_group_size(), queue.device().max_work_item_sizes.at(0)});
  const size_t columns = (static_cast<size_t>(dim) + group - 1) / group * group;
  kernel.arg(out).arg(table).arg(ids_tensor).arg(static_cast<uint64_t>(dim));
  kernel.run({columns, ids.size()}, {group, 1});
}

}  // namespace

HostTensor make_embedding_table(int64_t rows, int64_t dim, uint64_t seed) {
  HostTensor table(DType::kF32, {rows, dim});
  base::Rng rng(seed);
  for (float& value : table.as<float>()) {
    value = static_cast<float>(rng.normal());
  }
  return table;
}

Tensor embedding(const Tensor& table, const HostTensor& ids) {
  if (table.shape().rank() != 2) {
    throw base::FormatError("embedding: table is " + table.shape().text() +
                            "; allowed is a matrix [V, D]");
  }
  const int64_t dim = table.shape()[1];
  const std::vector<int64_t> rows = checked_ids(ids, table.shape()[0]);
  std::vector<int64_t> dims(ids.shape().dims().begin(), ids.shape().dims().end());
  if (dims.size() >= Shape::kMaxRank) {
    throw base::FormatError("embedding: ids " + ids.shape().text() + " have too many axes");
  }
  dims.push_back(dim);
  Tensor out = Tensor::empty(table.queue(), table.dtype(), Shape(std::span<const int64_t>(dims)));
  if (out.count() == 0) {
    return out;
  }
  if (table.queue().is_host()) {
    copy_rows_host(table, rows, static_cast<size_t>(dim) * core::dtype_size(table.dtype()), out);
  } else {
    copy_rows_device(table, rows, dim, out);
  }
  return out;
}

}  // namespace netcl::nn
