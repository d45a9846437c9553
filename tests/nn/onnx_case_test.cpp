// SPDX-License-Identifier: Apache-2.0
// The reader and the judge of ONNX node cases, on cases whose answer is known by hand.
#include "nn/onnx_case.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "core/npy_file.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace netcl::tests {

namespace {

using core::DType;
using core::HostTensor;
using core::Shape;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
  return HostTensor::from_floats(shape, values);
}

// Q = K = 0, so every visible key weighs the same; V row j is values[j].
OnnxCase uniform_case(int64_t q_len, const std::vector<float>& values) {
  OnnxCase c;
  c.op = "Attention";
  c.inputs["Q"] = HostTensor(DType::kF32, {1, 1, q_len, 1});
  const int64_t keys = static_cast<int64_t>(values.size());
  c.inputs["K"] = HostTensor(DType::kF32, {1, 1, keys, 1});
  c.inputs["V"] = floats({1, 1, keys, 1}, values);
  return c;
}

// Empty when the reference and the host engine give the outputs of the case.
std::string verdict(const OnnxCase& c) {
  const core::Queue queue = core::DeviceManager::open("host").queue;
  for (const bool reference : {true, false}) {
    try {
      const auto got = run_onnx_case(c, {reference, queue, "auto"});
      for (const auto& [name, want] : c.outputs) {
        double worst = 0;
        const std::string fault = compare_onnx_output(got.at(name), want, worst);
        if (!fault.empty()) {
          return (reference ? "reference " : "host ") + name + ": " + fault;
        }
      }
    } catch (const base::Error& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace

TEST_CASE("onnx case: a window on both sides of the query") {
  OnnxCase c = uniform_case(5, {0, 1, 2, 3, 4});
  c.attributes = {{"left_window_size", 1}, {"right_window_size", 2}};
  c.outputs["Y"] = floats({1, 1, 5, 1}, {1, 1.5, 2.5, 3, 3.5});
  CHECK(verdict(c) == "");
  c.attributes["right_window_size"] = 1;
  CHECK(verdict(c) != "");
}

TEST_CASE("onnx case: causal without past is aligned with the first key") {
  OnnxCase c = uniform_case(2, {1, 2, 4, 8, 16});
  c.attributes = {{"is_causal", 1}};
  c.outputs["Y"] = floats({1, 1, 2, 1}, {1, 1.5});
  CHECK(verdict(c) == "");
  c.inputs["nonpad_kv_seqlen"] = HostTensor::from_int64s({1}, std::vector<int64_t>{4});
  c.outputs["Y"] = floats({1, 1, 2, 1}, {7.0F / 3, 15.0F / 4});
  CHECK(verdict(c) == "");
}

TEST_CASE("onnx case: masks of numbers are added and boolean ones select") {
  OnnxCase c = uniform_case(1, {1, 2, 4});
  const float e = std::exp(1.0F);
  c.inputs["attn_mask"] = HostTensor::from_int64s({1, 3}, std::vector<int64_t>{0, 1, 0});
  c.outputs["Y"] = floats({1, 1, 1, 1}, {(5 + 2 * e) / (2 + e)});
  CHECK(verdict(c) == "");
  c.inputs["attn_mask"] = c.inputs["attn_mask"].to(DType::kBool);
  c.outputs["Y"] = floats({1, 1, 1, 1}, {2});
  CHECK(verdict(c) == "");
  c.inputs["attn_mask"] = c.inputs["attn_mask"].reshaped({3});
  CHECK(verdict(c) == "");
}

TEST_CASE("onnx case: all four score outputs and a present without past") {
  OnnxCase c = uniform_case(1, {1, 2, 4});
  c.inputs["Q"] = floats({1, 1, 1, 1}, {1});
  c.inputs["K"] = floats({1, 1, 3, 1}, {1, 2, 3});
  c.inputs["attn_mask"] = floats({1, 3}, {0, 0.5F, -std::numeric_limits<float>::infinity()});
  c.attributes["softcap"] = 2;
  c.outputs["present_key"] = c.inputs["K"];
  c.outputs["present_value"] = c.inputs["V"];
  const float s0 = 2 * std::tanh(0.5F);
  const float s1 = 2 * std::tanh(1.0F) + 0.5F;
  const float w1 = 1 / (1 + std::exp(s0 - s1));
  const float hidden = -std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> stages = {
      {1, 2, 3}, {s0, s1 - 0.5F, 2 * std::tanh(1.5F)}, {s0, s1, hidden}, {1 - w1, w1, 0}};
  for (size_t mode = 0; mode < stages.size(); ++mode) {
    INFO("mode " << mode);
    c.attributes["qk_matmul_output_mode"] = static_cast<double>(mode);
    c.outputs["qk_matmul_output"] = floats({1, 1, 1, 3}, stages[mode]);
    CHECK(verdict(c) == "");
  }
  c.attributes["qk_matmul_output_mode"] = 4;
  CHECK(verdict(c) != "");
}

TEST_CASE("onnx case: packed heads and double inputs") {
  OnnxCase c;
  c.op = "Attention";
  c.attributes = {{"q_num_heads", 2}, {"kv_num_heads", 1}, {"softmax_precision", 11}};
  c.inputs["Q"] = HostTensor(DType::kF64, {1, 2, 6});
  c.inputs["K"] = HostTensor(DType::kF64, {1, 1, 3});
  c.inputs["V"] = HostTensor::from_doubles({1, 1, 2}, std::vector<double>{5, 7});
  c.outputs["Y"] = HostTensor::from_doubles({1, 2, 4}, std::vector<double>{5, 7, 5, 7, 5, 7, 5, 7});
  CHECK(verdict(c) == "");
  c.attributes.erase("q_num_heads");
  CHECK(verdict(c) != "");
}

TEST_CASE("onnx case: rotary embedding of packed heads") {
  OnnxCase c;
  c.op = "RotaryEmbedding";
  c.attributes = {{"num_heads", 2}};
  c.inputs["X"] = floats({1, 1, 4}, {1, 2, 3, 4});
  c.inputs["cos_cache"] = floats({2, 1}, {1, 0});
  c.inputs["sin_cache"] = floats({2, 1}, {0, 1});
  c.inputs["position_ids"] = HostTensor::from_int64s({1, 1}, std::vector<int64_t>{1});
  c.outputs["Y"] = floats({1, 1, 4}, {-2, 1, -4, 3});
  CHECK(verdict(c) == "");
  c.attributes["rotary_embedding_dim"] = 4;
  CHECK(verdict(c) != "");
  c.attributes["rotary_embedding_dim"] = 0;
  c.inputs["position_ids"] = HostTensor::from_int64s({1, 1}, std::vector<int64_t>{2});
  CHECK(verdict(c) != "");
}

TEST_CASE("onnx case: what cannot be run is a failure") {
  OnnxCase c = uniform_case(1, {3});
  c.outputs["Y"] = floats({1, 1, 1, 1}, {3});
  CHECK(verdict(c) == "");
  OnnxCase other = c;
  other.op = "LinearAttention";
  CHECK(verdict(other) == "unknown operator 'LinearAttention'");
  other = c;
  other.attributes["sinks"] = 1;
  CHECK(verdict(other) == "unknown attribute 'sinks'");
  other = c;
  other.inputs["bias"] = floats({1}, {0});
  CHECK(verdict(other) == "unknown input 'bias'");
  other = c;
  other.outputs["Z"] = floats({1}, {0});
  CHECK(verdict(other) == "unknown output 'Z'");
  other = c;
  other.inputs.erase("V");
  CHECK(verdict(other) == "input V is missing");
}

TEST_CASE("onnx case: the judge refuses NaN and infinities and other shapes and types") {
  double worst = 0;
  const auto agree = [&](std::vector<double> got, std::vector<double> want, DType dtype) {
    const Shape shape{static_cast<int64_t>(got.size())};
    return compare_onnx_output(HostTensor::from_doubles(shape, got).to(dtype),
                               HostTensor::from_doubles(shape, want).to(dtype), worst)
        .empty();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(agree({1, -kInfinity}, {1 + 5e-6, -kInfinity}, DType::kF32));
  CHECK(worst > 4e-6);
  CHECK_FALSE(agree({1}, {1 + 2e-5}, DType::kF32));
  CHECK(agree({100}, {100 + 5e-4}, DType::kF32));
  CHECK(agree({1}, {1.001}, DType::kF16));
  CHECK_FALSE(agree({1}, {1.003}, DType::kF16));
  CHECK_FALSE(agree({nan}, {nan}, DType::kF32));
  CHECK_FALSE(agree({nan}, {0}, DType::kF32));
  CHECK_FALSE(agree({0}, {nan}, DType::kF32));
  CHECK_FALSE(agree({-1e30}, {-kInfinity}, DType::kF32));
  CHECK_FALSE(agree({-kInfinity}, {-1e30}, DType::kF32));
  CHECK_FALSE(agree({kInfinity}, {-kInfinity}, DType::kF32));
  const HostTensor one = floats({1, 1}, {1});
  CHECK(compare_onnx_output(one, one, worst) == "");
  CHECK(compare_onnx_output(one, one.reshaped({1}), worst) != "");
  CHECK(compare_onnx_output(one, one.to(DType::kF16), worst) != "");
}

TEST_CASE("onnx case: a folder is read or refused with its place") {
  const TempDir dir;
  const auto write_json = [&](const std::string& text) {
    base::write_file(dir.file("case.json"), text);
  };
  CHECK_THROWS_AS(read_onnx_case(dir.path().string()), base::IoError);
  write_json("{\"op\": \"Attention\", \"attributes\": {}}");
  CHECK_THROWS_AS(read_onnx_case(dir.path().string()), base::FormatError);
  core::write_npy(dir.file("a.npy"), floats({2}, {1, 2}));
  write_json(R"({"op": "Attention", "opset": 23, "attributes": {"scale": 0.5},
                 "inputs": {"Q": "a.npy"}, "outputs": {"Y": "a.npy"}})");
  const OnnxCase c = read_onnx_case(dir.path().string());
  CHECK(c.op == "Attention");
  CHECK(c.attributes.at("scale") == 0.5);
  CHECK(c.inputs.at("Q").to_floats() == std::vector<float>{1, 2});
  write_json(R"({"op": "Attention", "attributes": {}, "inputs": {"Q": "b.npy"},
                 "outputs": {"Y": "a.npy"}})");
  CHECK_THROWS_AS(read_onnx_case(dir.path().string()), base::IoError);
}

}  // namespace netcl::tests
