// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/device.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using core::DType;

constexpr DType kAllTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                               DType::kI32, DType::kI16, DType::kI8,  DType::kU64,  DType::kU32,
                               DType::kU16, DType::kU8,  DType::kBool};

// The host engine's queue, and the device's where there is one.
std::vector<core::Queue> queues() {
  std::vector<core::Queue> result{core::DeviceManager::open("host").queue};
  if (const auto device = tests::require_device_queue()) {
    result.push_back(*device);
  }
  return result;
}

core::HostTensor random_bytes(DType dtype, const core::Shape& shape) {
  core::HostTensor tensor(dtype, shape);
  base::Rng rng(7);
  for (size_t i = 0; i < tensor.byte_count(); ++i) {
    tensor.data()[i] = static_cast<std::byte>(dtype == DType::kBool ? rng.below(2) : rng.next());
  }
  return tensor;
}

bool same_bytes(const core::HostTensor& a, const core::HostTensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.byte_count() == 0 || std::memcmp(a.data(), b.data(), a.byte_count()) == 0);
}

}  // namespace

TEST_CASE("tensor: elements of every type and shape come back bit for bit") {
  for (const core::Queue& queue : queues()) {
    for (const DType dtype : kAllTypes) {
      for (const core::Shape& shape :
           {core::Shape{}, core::Shape{1}, core::Shape{0}, core::Shape{3, 0, 2},
            core::Shape{2, 3, 5}, core::Shape{1021}}) {
        const core::HostTensor host = random_bytes(dtype, shape);
        const core::Tensor tensor = core::Tensor::from_host(queue, host);
        CHECK(tensor.queue() == queue);
        CHECK(tensor.byte_count() == host.byte_count());
        CHECK(same_bytes(tensor.to_host(), host));
      }
    }
  }
}

TEST_CASE("tensor: zeros are zero") {
  for (const core::Queue& queue : queues()) {
    for (const int64_t count : {0, 1, 3, 4097}) {
      const core::HostTensor host = core::Tensor::zeros(queue, DType::kI8, {count}).to_host();
      CHECK(host.to_int64s() == std::vector<int64_t>(static_cast<size_t>(count), 0));
    }
  }
}

TEST_CASE("tensor: copies and other shapes share the elements") {
  for (const core::Queue& queue : queues()) {
    const core::Tensor tensor = core::Tensor::zeros(queue, DType::kF32, {2, 3});
    const core::Tensor copy = tensor;
    const core::Tensor flat = tensor.reshaped({6});
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    flat.write(core::HostTensor::from_floats({6}, values));
    CHECK(copy.to_host().to_floats() == values);
    CHECK(copy.to_host().shape() == core::Shape{2, 3});
    CHECK(flat.to_host().shape() == core::Shape{6});
    CHECK_THROWS_WITH(tensor.reshaped({4}), Contains("[2, 3]") && Contains("[4]"));
    CHECK_THROWS_AS(tensor.reshaped({4}), base::FormatError);
  }
}

TEST_CASE("tensor: a write of another type or shape is refused") {
  for (const core::Queue& queue : queues()) {
    const core::Tensor tensor = core::Tensor::zeros(queue, DType::kF32, {2, 3});
    CHECK_THROWS_AS(tensor.write(core::HostTensor(DType::kF32, {3, 2})), base::FormatError);
    CHECK_THROWS_AS(tensor.write(core::HostTensor(DType::kI32, {2, 3})), base::FormatError);
    CHECK_THROWS_WITH(tensor.write(core::HostTensor(DType::kI32, {6})),
                      Contains("f32 [2, 3]") && Contains("i32 [6]"));
  }
}

TEST_CASE("tensor: one buffer above the limit is refused with wanted and allowed bytes") {
  for (const core::Queue& queue : queues()) {
    const auto allowed = static_cast<int64_t>(queue.device().max_alloc_bytes);
    CHECK_THROWS_AS(core::Tensor::empty(queue, DType::kU8, {allowed + 1}), base::DeviceError);
    CHECK_THROWS_WITH(core::Tensor::empty(queue, DType::kU8, {allowed + 1}),
                      Contains(std::to_string(allowed + 1)) && Contains(std::to_string(allowed)));
    // 2^65 bytes: more than any size can say.
    CHECK_THROWS_AS(core::Tensor::zeros(queue, DType::kF64, {int64_t{1} << 62}), base::DeviceError);
  }
}

TEST_CASE("tensor: live tensors together stay below the device memory") {
  const auto queue = tests::require_device_queue(core::QueueOptions{});
  if (!queue) {
    return;
  }
  const auto limit = queue->device().global_mem_bytes;
  const auto piece = static_cast<int64_t>(queue->device().max_alloc_bytes);
  std::vector<core::Tensor> live;
  std::string message;
  try {
    while (static_cast<uint64_t>(piece) * live.size() <= limit) {
      live.push_back(core::Tensor::empty(*queue, DType::kU8, {piece}));
    }
  } catch (const base::DeviceError& error) {
    message = error.what();
  }
  CHECK_THAT(message, Contains(std::to_string(piece)));
  const size_t held = live.size();
  if (held == limit / static_cast<uint64_t>(piece)) {
    CHECK_THAT(message, Contains(std::to_string(limit)) &&
                            Contains(std::to_string(static_cast<uint64_t>(piece) * held)));
  }
  // What is given back can be used again.
  live.clear();
  CHECK_NOTHROW(core::Tensor::empty(*queue, DType::kU8, {piece / 2}));
}
