// SPDX-License-Identifier: Apache-2.0
#include "nn/rotary_attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"

namespace netcl::nn {

using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;

namespace {

void require_positive(const char* name, int64_t value) {
  if (value <= 0) {
    throw base::UsageError(std::string("rotary attention: ") + name + " is " +
                           std::to_string(value) + "; allowed are numbers from 1");
  }
}

[[noreturn]] void throw_not_multiple(const char* what, int64_t value, const char* of,
                                     int64_t divisor) {
  throw base::UsageError(std::string("rotary attention: ") + what + " " + std::to_string(value) +
                         " is no multiple of " + of + " " + std::to_string(divisor));
}

// The configuration with head_dim and rope_dim filled in.
RotaryAttentionConfig resolved(const RotaryAttentionSizes& sizes, RotaryAttentionConfig config) {
  require_positive("dim", sizes.dim);
  require_positive("n_heads", sizes.n_heads);
  require_positive("n_kv_heads", sizes.n_kv_heads);
  require_positive("max_seq_len", sizes.max_seq_len);
  if (sizes.max_seq_len > kMaxPositions) {
    throw base::UsageError("rotary attention: max_seq_len is " + std::to_string(sizes.max_seq_len) +
                           "; allowed are numbers to " + std::to_string(kMaxPositions));
  }
  if (sizes.n_heads % sizes.n_kv_heads != 0) {
    throw_not_multiple("n_heads", sizes.n_heads, "n_kv_heads", sizes.n_kv_heads);
  }
  if (config.head_dim == 0) {
    if (sizes.dim % sizes.n_heads != 0) {
      throw_not_multiple("dim", sizes.dim, "n_heads", sizes.n_heads);
    }
    config.head_dim = sizes.dim / sizes.n_heads;
  }
  require_positive("head_dim", config.head_dim);
  if (config.rope_dim == 0) {
    config.rope_dim = config.head_dim;
  }
  if (config.window < 0) {
    throw base::UsageError("rotary attention: window is " + std::to_string(config.window) +
                           "; allowed are numbers from 1, and 0 for none");
  }
  return config;
}

RopeOptions short_rope_options(const RotaryAttentionSizes& sizes,
                               const RotaryAttentionConfig& config) {
  return {config.head_dim,   config.rope_dim,     sizes.max_seq_len,
          config.rope_theta, config.rope_scaling, 0};
}

HostTensor uniform_weight(base::Rng& rng, int64_t out, int64_t in, double limit) {
  HostTensor weight(DType::kF32, {out, in});
  for (float& value : weight.as<float>()) {
    value = static_cast<float>((2 * rng.uniform() - 1) * limit);
  }
  return weight;
}

void check_parameter(const std::string& name, const HostTensor& tensor, const Shape& shape) {
  if (tensor.shape() != shape) {
    throw base::FormatError(name + ": shape is " + tensor.shape().text() + ", the sizes ask for " +
                            shape.text());
  }
  const DType dtype = tensor.dtype();
  if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
    throw base::FormatError(name + ": dtype is " + std::string(core::dtype_name(dtype)) +
                            "; allowed f32, f16 and bf16");
  }
}

// All parameters with their names, checked against the sizes.
std::vector<NamedParameter> upload(const core::Queue& queue, const RotaryAttentionSizes& sizes,
                                   int64_t head_dim, const RotaryAttentionWeights& weights) {
  std::vector<NamedParameter> parameters;
  const auto add = [&](const std::string& name, const HostTensor& tensor, const Shape& shape) {
    check_parameter(name, tensor, shape);
    parameters.push_back({name, Tensor::from_host(queue, tensor)});
  };
  const auto add_projection = [&](const std::string& name, const Projection& projection,
                                  int64_t out, int64_t in) {
    add(name + ".weight", projection.weight, {out, in});
    if (projection.bias) {
      add(name + ".bias", *projection.bias, {out});
    }
  };
  const int64_t q_rows = sizes.n_heads * head_dim;
  const int64_t kv_rows = sizes.n_kv_heads * head_dim;
  add_projection("q_proj", weights.q, q_rows, sizes.dim);
  add_projection("k_proj", weights.k, kv_rows, sizes.dim);
  add_projection("v_proj", weights.v, kv_rows, sizes.dim);
  add_projection("o_proj", weights.o, sizes.dim, q_rows);
  if (weights.q_norm.has_value() != weights.k_norm.has_value()) {
    throw base::FormatError(
        "q_norm.weight: QK norm needs q_norm.weight and k_norm.weight, or neither");
  }
  if (weights.q_norm) {
    add("q_norm.weight", *weights.q_norm, {head_dim});
    add("k_norm.weight", *weights.k_norm, {head_dim});
  }
  return parameters;
}

// Positions 0 .. S - 1 must exist; given ones are checked by RopeTable.
void check_length(int64_t length, int64_t max_seq_len) {
  if (length > max_seq_len) {
    throw base::FormatError("rotary attention: x has " + std::to_string(length) +
                            " positions; max_seq_len is " + std::to_string(max_seq_len));
  }
}

Shape batch_shape(const Shape& x, int64_t dim) {
  if ((x.rank() != 2 && x.rank() != 3) || x[x.rank() - 1] != dim) {
    throw base::FormatError("rotary attention: x is " + x.text() +
                            "; allowed are [batch, length, " + std::to_string(dim) +
                            "] and [length, " + std::to_string(dim) + "]");
  }
  return x.rank() == 3 ? x : Shape{1, x[0], x[1]};
}

}  // namespace

RotaryAttentionConfig RotaryAttentionConfig::netcl() {
  RotaryAttentionConfig config;
  config.qk_norm = true;
  return config;
}

RotaryAttentionWeights make_rotary_attention_weights(const RotaryAttentionSizes& sizes,
                                                     const RotaryAttentionConfig& config) {
  const int64_t head_dim = resolved(sizes, config).head_dim;
  const int64_t q_rows = sizes.n_heads * head_dim;
  const int64_t kv_rows = sizes.n_kv_heads * head_dim;
  const double qkv_limit = std::sqrt(6.0 / static_cast<double>(sizes.dim + q_rows + 2 * kv_rows));
  const double o_limit = std::sqrt(6.0 / static_cast<double>(q_rows + sizes.dim));
  base::Rng rng(config.seed);
  RotaryAttentionWeights weights;
  weights.q.weight = uniform_weight(rng, q_rows, sizes.dim, qkv_limit);
  weights.k.weight = uniform_weight(rng, kv_rows, sizes.dim, qkv_limit);
  weights.v.weight = uniform_weight(rng, kv_rows, sizes.dim, qkv_limit);
  weights.o.weight = uniform_weight(rng, sizes.dim, q_rows, o_limit);
  if (config.bias) {
    weights.q.bias = HostTensor(DType::kF32, {q_rows});
    weights.k.bias = HostTensor(DType::kF32, {kv_rows});
    weights.v.bias = HostTensor(DType::kF32, {kv_rows});
    weights.o.bias = HostTensor(DType::kF32, {sizes.dim});
  }
  if (config.qk_norm) {
    const std::vector<float> ones(static_cast<size_t>(head_dim), 1.0F);
    weights.q_norm = HostTensor::from_floats({head_dim}, ones);
    weights.k_norm = HostTensor::from_floats({head_dim}, ones);
  }
  return weights;
}

RotaryAttention::RotaryAttention(const core::Queue& queue, int64_t dim, int64_t n_heads,
                                 int64_t n_kv_heads, int64_t max_seq_len,
                                 const RotaryAttentionConfig& config)
    : RotaryAttention(
          queue, {dim, n_heads, n_kv_heads, max_seq_len}, config,
          make_rotary_attention_weights({dim, n_heads, n_kv_heads, max_seq_len}, config)) {}

RotaryAttention::RotaryAttention(const core::Queue& queue, const RotaryAttentionSizes& sizes,
                                 const RotaryAttentionConfig& config,
                                 const RotaryAttentionWeights& weights)
    : sizes_(sizes),
      config_(resolved(sizes, config)),
      table_(queue, short_rope_options(sizes_, config_)),
      parameters_(upload(queue, sizes_, config_.head_dim, weights)) {
  config_.bias = weights.q.bias || weights.k.bias || weights.v.bias || weights.o.bias;
  config_.qk_norm = weights.q_norm.has_value();
}

std::optional<Tensor> RotaryAttention::find_parameter(const std::string& name) const {
  for (const NamedParameter& parameter : parameters_) {
    if (parameter.name == name) {
      return parameter.tensor;
    }
  }
  return std::nullopt;
}

Tensor RotaryAttention::parameter(const std::string& name) const {
  const std::optional<Tensor> found = find_parameter(name);
  NETCL_CHECK(found.has_value());
  return *found;
}

Tensor RotaryAttention::as_batch(const Tensor& x) const {
  return x.reshaped(batch_shape(x.shape(), sizes_.dim));
}

RopeOptions RotaryAttention::rope_options(int64_t length,
                                          const std::vector<int64_t>& positions) const {
  RopeOptions options = short_rope_options(sizes_, config_);
  const auto largest = std::max_element(positions.begin(), positions.end());
  options.sequence_length =
      largest == positions.end() ? length : std::min(*largest, sizes_.max_seq_len - 1) + 1;
  return options;
}

RopeTable RotaryAttention::table_for(int64_t length, const std::vector<int64_t>& positions) const {
  RopeOptions options = rope_options(length, positions);
  if (!changes_with_length(options.scaling, options.sequence_length)) {
    return table_;
  }
  options.max_positions = std::min(options.max_positions, options.sequence_length);
  return RopeTable(queue(), options);
}

RopeCall RotaryAttention::rope_call(const std::vector<int64_t>& positions) const {
  RopeCall call;
  call.pairing = config_.pairing;
  call.layout = Layout::kBshd;
  call.positions = positions;
  return call;
}

AttentionOptions RotaryAttention::attention_options() const {
  AttentionOptions options;
  options.causal = config_.causal;
  if (config_.window != 0) {
    options.window_left = config_.window - 1;
  }
  options.softcap = config_.softcap;
  options.scale = config_.scale;
  return options;
}

RotaryProjections RotaryAttention::project(const Tensor& x,
                                           const std::vector<int64_t>& positions) const {
  const Shape shape = batch_shape(x.shape(), sizes_.dim);
  if (positions.empty()) {
    check_length(shape[1], sizes_.max_seq_len);
  }
  const auto project_heads = [&](const std::string& name, int64_t heads) {
    const Tensor rows = linear(as_batch(x), parameter(name + ".weight"),
                               find_parameter(name + ".bias"), {WeightLayout::kOutIn, DType::kF32});
    return rows.reshaped({shape[0], shape[1], heads, config_.head_dim});
  };
  Tensor q = project_heads("q_proj", sizes_.n_heads);
  Tensor k = project_heads("k_proj", sizes_.n_kv_heads);
  const Tensor v = project_heads("v_proj", sizes_.n_kv_heads);
  if (config_.qk_norm) {
    q = rms_norm(q, parameter("q_norm.weight"), config_.norm_eps);
    k = rms_norm(k, parameter("k_norm.weight"), config_.norm_eps);
  }
  const RopeCall call = rope_call(positions);
  const RopeTable table = table_for(shape[1], positions);
  return {apply_rope(q, table, call), apply_rope(k, table, call), v};
}

RotaryAttentionOutputs RotaryAttention::run(const Tensor& x, const AttentionOptions& options,
                                            const std::vector<int64_t>& positions) const {
  const RotaryProjections heads = project(x, positions);
  AttentionOptions call = options;
  call.layout = Layout::kBshd;
  AttentionOutputs attended =
      attention({heads.q, heads.k, heads.v, std::nullopt, std::nullopt, std::nullopt, {}}, call);
  const Shape& shape = heads.q.shape();
  const Tensor rows = attended.y.reshaped({shape[0], shape[1], sizes_.n_heads * config_.head_dim});
  const Tensor y = linear(rows, parameter("o_proj.weight"), find_parameter("o_proj.bias"),
                          {WeightLayout::kOutIn, x.dtype()});
  return {y.reshaped(x.shape()), std::move(attended)};
}

Tensor RotaryAttention::forward(const Tensor& x) const {
  return run(x, attention_options()).y;
}

RotaryAttentionReference RotaryAttention::reference(const HostTensor& x,
                                                    const AttentionOptions& options,
                                                    const std::vector<int64_t>& positions,
                                                    const base::ProgressFn& progress) const {
  const Shape shape = batch_shape(x.shape(), sizes_.dim);
  if (positions.empty()) {
    check_length(shape[1], sizes_.max_seq_len);
  }
  const RopeAngles angles = rope_angles(rope_options(shape[1], positions));
  const RopeCall call = rope_call(positions);
  const auto project_rows = [&](const std::string& name, const HostTensor& rows) {
    const std::optional<Tensor> bias_tensor = find_parameter(name + ".bias");
    const HostTensor bias = bias_tensor ? bias_tensor->to_host() : HostTensor();
    return linear_reference(rows, parameter(name + ".weight").to_host(),
                            bias_tensor ? &bias : nullptr);
  };
  const auto project_heads = [&](const std::string& name, int64_t heads) {
    return project_rows(name, x.reshaped(shape))
        .reshaped({shape[0], shape[1], heads, config_.head_dim});
  };
  const auto rotate = [&](HostTensor heads, const std::string& norm) {
    if (config_.qk_norm) {
      heads = rms_norm_reference(heads, parameter(norm).to_host(), config_.norm_eps);
    }
    return rope_reference(heads, angles.cos, angles.sin, call);
  };
  core::QueueOptions single;
  single.host_threads = 1;
  const core::Queue host = core::DeviceManager::open("host", single).queue;
  const auto on_host = [&](const HostTensor& tensor) { return Tensor::from_host(host, tensor); };
  AttentionOptions attention_call = options;
  attention_call.layout = Layout::kBshd;
  attention_call.kernel = "auto";
  RotaryAttentionReference result;
  result.attention = attention_reference(
      {on_host(rotate(project_heads("q_proj", sizes_.n_heads), "q_norm.weight")),
       on_host(rotate(project_heads("k_proj", sizes_.n_kv_heads), "k_norm.weight")),
       on_host(project_heads("v_proj", sizes_.n_kv_heads)),
       std::nullopt,
       std::nullopt,
       std::nullopt,
       {}},
      attention_call, progress);
  const HostTensor rows =
      result.attention.y.reshaped({shape[0], shape[1], sizes_.n_heads * config_.head_dim});
  result.y = project_rows("o_proj", rows).reshaped(x.shape());
  return result;
}

HostTensor RotaryAttention::reference_forward(const HostTensor& x) const {
  return reference(x, attention_options()).y;
}

}  // namespace netcl::nn
