// SPDX-License-Identifier: Apache-2.0
// A tensor on a queue's device: host memory for the host engine, a buffer for an OpenCL device.
// Contiguous, row-major. A handle: copies share the elements.
#ifndef NETCL_CORE_TENSOR_H_
#define NETCL_CORE_TENSOR_H_

#include <cstddef>
#include <memory>

#include "core/device.h"
#include "core/dtype.h"
#include "core/host_tensor.h"
#include "core/shape.h"

namespace netcl::core {

class TensorStorage;  // core/opencl.h

class Tensor {
 public:
  // Copies the elements to the device. Throws DeviceError when the tensor is larger than one buffer
  // of the device may be, or memory is short; the message holds the wanted and the allowed bytes.
  static Tensor from_host(const Queue& queue, const HostTensor& host);
  // Elements are undefined until written.
  static Tensor empty(const Queue& queue, DType dtype, const Shape& shape);
  static Tensor zeros(const Queue& queue, DType dtype, const Shape& shape);

  const Queue& queue() const { return queue_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_.count(); }
  size_t byte_count() const { return static_cast<size_t>(count()) * dtype_size(dtype_); }

  // Waits for the work that writes this tensor and copies it out.
  HostTensor to_host() const;
  // Replaces all elements; dtype and shape must agree (FormatError).
  void write(const HostTensor& host) const;
  // Same elements, other shape of equal count (FormatError). Shares the storage.
  Tensor reshaped(const Shape& shape) const;

  // Host engine only (NETCL_CHECK): the elements themselves.
  HostTensor& host() const;
  TensorStorage& storage() const { return *storage_; }

 private:
  Tensor(Queue queue, DType dtype, const Shape& shape, std::shared_ptr<TensorStorage> storage);
  Queue queue_;
  DType dtype_;
  Shape shape_;
  std::shared_ptr<TensorStorage> storage_;
};

}  // namespace netcl::core

#endif  // NETCL_CORE_TENSOR_H_
