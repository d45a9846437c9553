// SPDX-License-Identifier: Apache-2.0
// One ONNX node case: a folder with case.json {op, opset, attributes, inputs, outputs} and the .npy
// files that it names. Operators: Attention (opset 23 to 25) and RotaryEmbedding (23).
// Source: ONNX operator documentation, "Attention" and "RotaryEmbedding".
#ifndef NETCL_TESTS_NN_ONNX_CASE_H_
#define NETCL_TESTS_NN_ONNX_CASE_H_

#include <map>
#include <string>

#include "core/device.h"
#include "core/host_tensor.h"

namespace netcl::tests {

struct OnnxCase {
  std::string op;
  std::map<std::string, double> attributes;
  std::map<std::string, core::HostTensor> inputs;
  std::map<std::string, core::HostTensor> outputs;  // expected
};

// Throws FormatError or IoError.
OnnxCase read_onnx_case(const std::string& folder);

// What runs a case.
struct OnnxEngine {
  bool reference = false;  // nn::attention_reference, else nn::attention on `queue`
  core::Queue queue;
  std::string kernel = "auto";
};

// The outputs that the case expects, computed. Throws base::Error for a case that cannot be run: an
// unknown operator, input, output or attribute, or shapes that do not fit.
std::map<std::string, core::HostTensor> run_onnx_case(const OnnxCase& onnx_case,
                                                      const OnnxEngine& engine);

// Empty when `got` equals `want` in dtype and shape and |got - want| <= tolerance * max(1, |want|)
// everywhere, 2e-3 for fp16 and 1e-5 else; an infinity equals itself only and NaN nothing. Else
// what differs. Raises `worst` to the largest |got - want| / max(1, |want|).
std::string compare_onnx_output(const core::HostTensor& got, const core::HostTensor& want,
                                double& worst);

}  // namespace netcl::tests

#endif  // NETCL_TESTS_NN_ONNX_CASE_H_
