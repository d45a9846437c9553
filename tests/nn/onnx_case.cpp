// SPDX-License-Identifier: Apache-2.0
#include "nn/onnx_case.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "core/npy_file.h"
#include "nn/rope.h"
#include "support/attention_cases.h"

namespace netcl::tests {

namespace {

using base::FormatError;
using core::DType;
using core::HostTensor;
using core::Shape;

using Tensors = std::map<std::string, HostTensor>;

Tensors read_tensors(const base::Json& names, const std::string& folder, const std::string& where) {
  Tensors tensors;
  for (const auto& [name, file] : names.items()) {
    if (!file.is_string()) {
      throw FormatError(where + ": file of '" + name + "' is not a string");
    }
    tensors[name] = core::read_npy(folder + "/" + file.get<std::string>());
  }
  return tensors;
}

void refuse_unknown(const std::set<std::string>& known, const std::string& name,
                    const std::string& what) {
  if (known.count(name) == 0) {
    throw FormatError("unknown " + what + " '" + name + "'");
  }
}

double attribute(const OnnxCase& c, const std::string& name, double otherwise) {
  const auto found = c.attributes.find(name);
  return found == c.attributes.end() ? otherwise : found->second;
}

int64_t integer_attribute(const OnnxCase& c, const std::string& name, int64_t otherwise) {
  const double value = attribute(c, name, static_cast<double>(otherwise));
  if (value != std::floor(value) || std::abs(value) > 1e15) {
    throw FormatError("attribute " + name + " is " + std::to_string(value) + ", not an integer");
  }
  return static_cast<int64_t>(value);
}

const HostTensor& required(const OnnxCase& c, const std::string& name) {
  const auto found = c.inputs.find(name);
  if (found == c.inputs.end()) {
    throw FormatError("input " + name + " is missing");
  }
  return found->second;
}

const HostTensor* find_input(const OnnxCase& c, const std::string& name) {
  const auto found = c.inputs.find(name);
  return found == c.inputs.end() ? nullptr : &found->second;
}

// The types of an engine: double is for the reference alone.
HostTensor for_engine(const HostTensor& tensor, const OnnxEngine& engine) {
  return tensor.dtype() == DType::kF64 && !engine.reference ? tensor.to(DType::kF32) : tensor;
}

// A boolean mask stays; numbers of any type are added to the scores. Rank 0 and 1 broadcast over
// the rows like [1, n].
HostTensor mask_for_engine(const HostTensor& mask) {
  const bool keep =
      mask.dtype() == DType::kBool || mask.dtype() == DType::kF32 || mask.dtype() == DType::kF16;
  HostTensor out = keep ? mask : mask.to(DType::kF32);
  return mask.shape().rank() < 2 ? std::move(out).reshaped({1, mask.count()}) : out;
}

// [B, T, G * D] as [B, G, 0, D]: what "no past" looks like when the present is asked for.
HostTensor empty_past(const HostTensor& fresh, const nn::AttentionOptions& options) {
  const Shape& shape = fresh.shape();
  if (shape.rank() == 4) {
    return HostTensor(fresh.dtype(), {shape[0], shape[1], 0, shape[3]});
  }
  return HostTensor(fresh.dtype(), {shape[0], options.kv_heads, 0, shape[2] / options.kv_heads});
}

nn::AttentionOptions attention_options(const OnnxCase& c, const HostTensor& q) {
  static const std::set<std::string> kAttributes = {
      "is_causal",        "kv_num_heads",      "q_num_heads",           "scale",
      "softcap",          "softmax_precision", "qk_matmul_output_mode", "left_window_size",
      "right_window_size"};
  for (const auto& [name, value] : c.attributes) {
    refuse_unknown(kAttributes, name, "attribute");
  }
  nn::AttentionOptions options;
  options.causal = integer_attribute(c, "is_causal", 0) != 0;
  if (c.attributes.count("scale") != 0) {
    options.scale = c.attributes.at("scale");
  }
  options.softcap = attribute(c, "softcap", 0);
  options.window_left = integer_attribute(c, "left_window_size", -1);
  options.window_right = integer_attribute(c, "right_window_size", -1);
  if (q.shape().rank() == 3) {
    options.layout = nn::Layout::kPacked;
    options.heads = integer_attribute(c, "q_num_heads", 0);
    options.kv_heads = integer_attribute(c, "kv_num_heads", 0);
  } else if (q.shape().rank() != 4) {
    throw FormatError("Q has shape " + q.shape().text() + "; wanted rank 3 or 4");
  }
  // The softmax runs in float or double, whatever precision is asked for: float (1), float16 (10),
  // double (11) and bfloat16 (16).
  const int64_t precision = integer_attribute(c, "softmax_precision", 1);
  if (precision != 1 && precision != 10 && precision != 11 && precision != 16) {
    throw FormatError("softmax_precision is " + std::to_string(precision) +
                      ", not a floating type");
  }
  return options;
}

nn::ScoreStage score_stage(int64_t mode) {
  switch (mode) {
    case 0:
      return nn::ScoreStage::kRaw;
    case 1:
      return nn::ScoreStage::kSoftcap;
    case 2:
      return nn::ScoreStage::kMasked;
    case 3:
      return nn::ScoreStage::kWeights;
    default:
      throw FormatError("qk_matmul_output_mode is " + std::to_string(mode) + "; allowed 0 to 3");
  }
}

// Query row i is aligned with key i + offset: past length, or nonpad_kv_seqlen - q_len, else 0.
std::vector<int64_t> causal_offsets(const HostInputs& inputs, const nn::AttentionOptions& options) {
  if (inputs.past_k.has_value() && inputs.past_k->shape().rank() == 4) {
    return {inputs.past_k->shape()[2]};
  }
  std::vector<int64_t> offsets;
  const int64_t q_len = inputs.q.shape()[options.layout == nn::Layout::kPacked ? 1 : 2];
  for (const int64_t length : inputs.kv_lens) {
    offsets.push_back(length - q_len);
  }
  return offsets.empty() ? std::vector<int64_t>{0} : offsets;
}

Tensors run_attention_case(const OnnxCase& c, const OnnxEngine& engine) {
  static const std::set<std::string> kInputs = {
      "Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"};
  static const std::set<std::string> kOutputs = {"Y", "present_key", "present_value",
                                                 "qk_matmul_output"};
  for (const auto& [name, tensor] : c.inputs) {
    refuse_unknown(kInputs, name, "input");
  }
  for (const auto& [name, tensor] : c.outputs) {
    refuse_unknown(kOutputs, name, "output");
  }
  HostInputs inputs;
  inputs.q = for_engine(required(c, "Q"), engine);
  inputs.k = for_engine(required(c, "K"), engine);
  inputs.v = for_engine(required(c, "V"), engine);
  nn::AttentionOptions options = attention_options(c, inputs.q);
  options.kernel = engine.kernel;
  if (c.outputs.count("qk_matmul_output") != 0) {
    options.scores = score_stage(integer_attribute(c, "qk_matmul_output_mode", 0));
  }
  if (const HostTensor* mask = find_input(c, "attn_mask")) {
    inputs.mask = mask_for_engine(*mask);
  }
  if (const HostTensor* past = find_input(c, "past_key")) {
    inputs.past_k = for_engine(*past, engine);
  }
  if (const HostTensor* past = find_input(c, "past_value")) {
    inputs.past_v = for_engine(*past, engine);
  }
  if (const HostTensor* lengths = find_input(c, "nonpad_kv_seqlen")) {
    inputs.kv_lens = lengths->to_int64s();
  }
  options.alignment = nn::Alignment::kExplicit;
  options.offsets = causal_offsets(inputs, options);
  const bool wants_present =
      c.outputs.count("present_key") != 0 || c.outputs.count("present_value") != 0;
  if (wants_present && !inputs.past_k.has_value() && !inputs.past_v.has_value()) {
    inputs.past_k = empty_past(inputs.k, options);
    inputs.past_v = empty_past(inputs.v, options);
  }

  Tensors all;
  if (engine.reference) {
    const nn::ReferenceOutputs out = run_reference(inputs, options);
    all = {{"Y", out.y},
           {"present_key", out.present_k},
           {"present_value", out.present_v},
           {"qk_matmul_output", out.scores}};
  } else {
    const HostOutputs out = run_attention(engine.queue, inputs, options);
    all["Y"] = out.y;
    all["present_key"] = out.present_k.value_or(HostTensor());
    all["present_value"] = out.present_v.value_or(HostTensor());
    all["qk_matmul_output"] = out.scores.value_or(HostTensor());
  }
  // Y and the scores have Q's type, the present tensors those of K and V.
  all["Y"] = all["Y"].to(required(c, "Q").dtype());
  all["qk_matmul_output"] = all["qk_matmul_output"].to(required(c, "Q").dtype());
  all["present_key"] = all["present_key"].to(required(c, "K").dtype());
  all["present_value"] = all["present_value"].to(required(c, "V").dtype());
  return all;
}

Tensors run_rotary_case(const OnnxCase& c, const OnnxEngine& engine) {
  for (const auto& [name, value] : c.attributes) {
    refuse_unknown({"interleaved", "num_heads", "rotary_embedding_dim"}, name, "attribute");
  }
  for (const auto& [name, tensor] : c.inputs) {
    refuse_unknown({"input", "X", "cos_cache", "sin_cache", "position_ids"}, name, "input");
  }
  for (const auto& [name, tensor] : c.outputs) {
    refuse_unknown({"output", "Y"}, name, "output");
  }
  const HostTensor x = for_engine(required(c, c.inputs.count("X") != 0 ? "X" : "input"), engine);
  HostTensor cos = required(c, "cos_cache");
  HostTensor sin = required(c, "sin_cache");
  nn::RopeCall call;
  call.pairing = integer_attribute(c, "interleaved", 0) != 0 ? nn::RopePairing::kInterleaved
                                                             : nn::RopePairing::kHalf;
  if (x.shape().rank() == 3) {
    call.layout = nn::Layout::kPacked;
    call.heads = integer_attribute(c, "num_heads", 0);
  } else if (x.shape().rank() != 4) {
    throw FormatError("input has shape " + x.shape().text() + "; wanted rank 3 or 4");
  }
  if (const HostTensor* ids = find_input(c, "position_ids")) {
    call.positions = ids->to_int64s();
  } else {
    // One row of the caches for each row of the input.
    if (cos.shape().rank() != 3 || !(cos.shape() == sin.shape())) {
      throw FormatError("caches without position_ids have shapes " + cos.shape().text() + " and " +
                        sin.shape().text() + "; wanted [B, T, rotary / 2]");
    }
    const int64_t rows = cos.shape()[0] * cos.shape()[1];
    for (int64_t row = 0; row < rows; ++row) {
      call.positions.push_back(row);
    }
    const int64_t half = cos.shape()[2];
    cos = std::move(cos).reshaped({rows, half});
    sin = std::move(sin).reshaped({rows, half});
  }
  const int64_t rotary = integer_attribute(c, "rotary_embedding_dim", 0);
  const int64_t width = x.shape()[x.shape().rank() - 1] / std::max<int64_t>(call.heads, 1);
  if (cos.shape().rank() != 2 || 2 * cos.shape()[1] != (rotary == 0 ? width : rotary)) {
    throw FormatError("cos_cache has shape " + cos.shape().text() + " for rotary size " +
                      std::to_string(rotary == 0 ? width : rotary));
  }
  HostTensor y = engine.reference ? nn::rope_reference(x, cos, sin, call)
                                  : nn::apply_rope(core::Tensor::from_host(engine.queue, x),
                                                   nn::RopeTable(engine.queue, cos, sin), call)
                                        .to_host();
  y = y.to(required(c, c.inputs.count("X") != 0 ? "X" : "input").dtype());
  return {{"output", y}, {"Y", y}};
}

}  // namespace

OnnxCase read_onnx_case(const std::string& folder) {
  const std::string path = folder + "/case.json";
  const base::FileBytes bytes = base::FileBytes::open(path);
  const base::Json json = base::parse_json(bytes.view(), path);
  OnnxCase c;
  c.op = base::require_string(json, "op", path);
  for (const auto& [name, value] : base::require_field(json, "attributes", path).items()) {
    if (!value.is_number()) {
      throw FormatError(path + ": attribute '" + name + "' is not a number");
    }
    c.attributes[name] = value.get<double>();
  }
  c.inputs = read_tensors(base::require_field(json, "inputs", path), folder, path);
  c.outputs = read_tensors(base::require_field(json, "outputs", path), folder, path);
  if (c.outputs.empty()) {
    throw FormatError(path + ": no outputs to compare");
  }
  return c;
}

Tensors run_onnx_case(const OnnxCase& onnx_case, const OnnxEngine& engine) {
  if (onnx_case.op == "Attention") {
    return run_attention_case(onnx_case, engine);
  }
  if (onnx_case.op == "RotaryEmbedding") {
    return run_rotary_case(onnx_case, engine);
  }
  throw FormatError("unknown operator '" + onnx_case.op + "'");
}

std::string compare_onnx_output(const HostTensor& got, const HostTensor& want, double& worst) {
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape())) {
    return std::string(core::dtype_name(got.dtype())) + " " + got.shape().text() + ", want " +
           std::string(core::dtype_name(want.dtype())) + " " + want.shape().text();
  }
  const double tolerance = want.dtype() == DType::kF16 ? 2e-3 : 1e-5;
  const std::vector<double> a = got.to_doubles();
  const std::vector<double> b = want.to_doubles();
  for (size_t i = 0; i < a.size(); ++i) {
    // NaN fails the second comparison; infinities pass by the first or not at all.
    const double error = std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i]));
    if (a[i] == b[i]) {
      continue;
    }
    if (!(error <= tolerance) || std::isinf(a[i]) || std::isinf(b[i])) {
      std::ostringstream out;
      out << "element " << i << ": got " << a[i] << ", want " << b[i];
      return out.str();
    }
    worst = std::max(worst, error);
  }
  return "";
}

}  // namespace netcl::tests
