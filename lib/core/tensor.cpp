// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.h"

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"
#include "core/opencl.h"

namespace netcl::core {

namespace {

std::string describe(DType dtype, const Shape& shape) {
  return "tensor " + std::string(dtype_name(dtype)) + " " + shape.text();
}

// Bytes of the elements. The count of a Shape fits int64_t, but its bytes need not.
uint64_t element_bytes(DType dtype, const Shape& shape) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(shape.count()), dtype_size(dtype), &bytes)) {
    throw base::DeviceError(describe(dtype, shape) + ": needs more than 2^64 bytes");
  }
  return bytes;
}

// OpenCL has no empty buffers; an empty tensor holds bytes that no kernel may touch.
constexpr size_t kEmptyBufferBytes = 16;

}  // namespace

Tensor::Tensor(Queue queue, DType dtype, const Shape& shape, std::shared_ptr<TensorStorage> storage)
    : queue_(std::move(queue)), dtype_(dtype), shape_(shape), storage_(std::move(storage)) {}

Tensor Tensor::empty(const Queue& queue, DType dtype, const Shape& shape) {
  const std::string what = describe(dtype, shape);
  const uint64_t bytes = element_bytes(dtype, shape);
  auto storage = std::make_shared<TensorStorage>(queue, bytes, what);
  if (queue.is_host()) {
    try {
      storage->host = HostTensor(dtype, shape);
    } catch (const std::bad_alloc&) {
      throw base::DeviceError(what + ": needs " + std::to_string(bytes) +
                              " bytes; host memory is short");
    }
  } else {
    storage->buffer = cl_checked(what + ", " + std::to_string(bytes) + " bytes", [&] {
      return cl::Buffer(queue.state().context(), CL_MEM_READ_WRITE,
                        bytes == 0 ? kEmptyBufferBytes : static_cast<size_t>(bytes));
    });
  }
  return Tensor(queue, dtype, shape, std::move(storage));
}

Tensor Tensor::zeros(const Queue& queue, DType dtype, const Shape& shape) {
  Tensor tensor = empty(queue, dtype, shape);
  if (!queue.is_host() && tensor.byte_count() > 0) {
    cl_checked(describe(dtype, shape), [&] {
      queue.state().queue().enqueueFillBuffer<cl_uchar>(tensor.storage_->buffer, 0, 0,
                                                        tensor.byte_count());
    });
  }
  return tensor;
}

Tensor Tensor::from_host(const Queue& queue, const HostTensor& host) {
  Tensor tensor = empty(queue, host.dtype(), host.shape());
  tensor.write(host);
  return tensor;
}

HostTensor Tensor::to_host() const {
  if (queue_.is_host()) {
    return HostTensor(storage_->host).reshaped(shape_);
  }
  HostTensor host(dtype_, shape_);
  if (byte_count() > 0) {
    cl_checked(describe(dtype_, shape_), [&] {
      queue_.state().queue().enqueueReadBuffer(storage_->buffer, CL_TRUE, 0, byte_count(),
                                               host.data());
    });
  }
  return host;
}

void Tensor::write(const HostTensor& host) const {
  if (host.dtype() != dtype_ || host.shape() != shape_) {
    throw base::FormatError(describe(dtype_, shape_) + ": cannot take the elements of a " +
                            describe(host.dtype(), host.shape()));
  }
  if (byte_count() == 0) {
    return;
  }
  if (queue_.is_host()) {
    std::memcpy(storage_->host.data(), host.data(), byte_count());
    return;
  }
  cl_checked(describe(dtype_, shape_), [&] {
    queue_.state().queue().enqueueWriteBuffer(storage_->buffer, CL_TRUE, 0, byte_count(),
                                              host.data());
  });
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.count() != shape_.count()) {
    throw base::FormatError(describe(dtype_, shape_) + ": cannot be read as shape " + shape.text() +
                            "; the element counts differ");
  }
  return Tensor(queue_, dtype_, shape, storage_);
}

HostTensor& Tensor::host() const {
  NETCL_CHECK(queue_.is_host());
  return storage_->host;
}

}  // namespace netcl::core
