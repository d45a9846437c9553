// SPDX-License-Identifier: Apache-2.0
#include "nn/rotary_attention_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "base/number_text.h"
#include "core/safetensors_file.h"
#include "nn/rope_config.h"

namespace netcl::nn {

using core::DType;
using core::HostTensor;
using core::Shape;

namespace {

std::optional<std::string> find_metadata(const core::SafetensorsFile& file, const char* key) {
  for (const auto& [name, value] : file.metadata()) {
    if (name == key) {
      return value;
    }
  }
  return std::nullopt;
}

[[noreturn]] void throw_metadata(const core::SafetensorsFile& file, const char* key,
                                 const std::string& value, const char* allowed) {
  throw base::FormatError(file.where() + ": metadata " + key + ": " + base::quote(value) +
                          "; allowed " + allowed);
}

template <typename T>
std::optional<T> find_number(const core::SafetensorsFile& file, const char* key) {
  const std::optional<std::string> text = find_metadata(file, key);
  if (!text) {
    return std::nullopt;
  }
  T value{};
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (text->empty() || stop != end || error != std::errc()) {
    throw_metadata(file, key, *text, "is a number");
  }
  return value;
}

// What the metadata says.
RotaryAttentionSettings metadata_settings(const core::SafetensorsFile& file) {
  RotaryAttentionSettings settings;
  settings.n_heads = find_number<int64_t>(file, "n_heads");
  settings.n_kv_heads = find_number<int64_t>(file, "n_kv_heads");
  settings.max_seq_len = find_number<int64_t>(file, "max_seq_len");
  settings.rope_theta = find_number<double>(file, "rope_theta");
  settings.rope_dim = find_number<int64_t>(file, "rope_dim");
  settings.norm_eps = find_number<double>(file, "norm_eps");
  if (const std::optional<std::string> name = find_metadata(file, "rope_pairing")) {
    settings.pairing = find_rope_pairing(*name);
    if (!settings.pairing) {
      throw_metadata(file, "rope_pairing", *name, "are half and interleaved");
    }
  }
  if (const std::optional<std::string> causal = find_metadata(file, "causal")) {
    if (*causal != "true" && *causal != "false") {
      throw_metadata(file, "causal", *causal, "are true and false");
    }
    settings.causal = *causal == "true";
  }
  settings.window = find_number<int64_t>(file, "window");
  settings.softcap = find_number<double>(file, "softcap");
  settings.scale = find_number<double>(file, "scale");
  if (const std::optional<std::string> scaling = find_metadata(file, "rope_scaling")) {
    const std::string where = file.where() + ": metadata rope_scaling";
    settings.rope_scaling = parse_rope_config(base::parse_json(*scaling, where), where).scaling;
  }
  return settings;
}

template <typename T>
std::optional<T> first_of(const std::optional<T>& a, const std::optional<T>& b) {
  return a ? a : b;
}

HostTensor load_parameter(const core::SafetensorsFile& file, const std::string& name, size_t rank) {
  HostTensor tensor = file.load(name);
  if (tensor.shape().rank() != rank || !core::is_floating(tensor.dtype())) {
    throw base::FormatError(file.where() + ": tensor " + base::quote(name) + " is " +
                            std::string(core::dtype_name(tensor.dtype())) + " " +
                            tensor.shape().text() + "; needed is a floating type and " +
                            std::to_string(rank) + (rank == 1 ? " axis" : " axes"));
  }
  return tensor.dtype() == DType::kF64 ? tensor.to(DType::kF32) : std::move(tensor);
}

std::optional<HostTensor> find_parameter(const core::SafetensorsFile& file,
                                         const std::string& name) {
  if (!file.contains(name)) {
    return std::nullopt;
  }
  return load_parameter(file, name, 1);
}

Projection load_projection(const core::SafetensorsFile& file, const std::string& name) {
  return {load_parameter(file, name + ".weight", 2), find_parameter(file, name + ".bias")};
}

RotaryAttentionWeights load_separate(const core::SafetensorsFile& file, const std::string& prefix) {
  RotaryAttentionWeights weights;
  weights.q = load_projection(file, prefix + "q_proj");
  weights.k = load_projection(file, prefix + "k_proj");
  weights.v = load_projection(file, prefix + "v_proj");
  weights.o = load_projection(file, prefix + "o_proj");
  weights.q_norm = find_parameter(file, prefix + "q_norm.weight");
  weights.k_norm = find_parameter(file, prefix + "k_norm.weight");
  return weights;
}

// Elements [first, first + count) of the outermost axis.
HostTensor slice_rows(const HostTensor& tensor, int64_t first, int64_t count) {
  std::vector<int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  const size_t row_bytes = tensor.byte_count() / static_cast<size_t>(dims[0]);
  dims[0] = count;
  HostTensor rows(tensor.dtype(), Shape(std::span<const int64_t>(dims)));
  std::memcpy(rows.data(), tensor.data() + static_cast<size_t>(first) * row_bytes,
              rows.byte_count());
  return rows;
}

RotaryAttentionWeights load_fused(const core::SafetensorsFile& file, const std::string& prefix) {
  constexpr size_t kTransposed[] = {1, 0};
  const HostTensor qkv = load_parameter(file, prefix + "qkv.weight", 2).permuted(kTransposed);
  const std::optional<HostTensor> qkv_bias = find_parameter(file, prefix + "qkv.bias");
  const int64_t columns = qkv.shape()[0];
  if (columns == 0 || columns % 3 != 0 || (qkv_bias && qkv_bias->shape() != Shape{columns})) {
    throw base::FormatError(file.where() + ": tensor " + base::quote(prefix + "qkv.weight") +
                            " has " + std::to_string(columns) +
                            " columns; needed are three equal blocks and a bias as long");
  }
  const int64_t block = columns / 3;
  const auto part = [&](int64_t index) {
    Projection projection{slice_rows(qkv, index * block, block), std::nullopt};
    if (qkv_bias) {
      projection.bias = slice_rows(*qkv_bias, index * block, block);
    }
    return projection;
  };
  RotaryAttentionWeights weights;
  weights.q = part(0);
  weights.k = part(1);
  weights.v = part(2);
  weights.o = {load_parameter(file, prefix + "proj.weight", 2).permuted(kTransposed),
               find_parameter(file, prefix + "proj.bias")};
  weights.q_norm = find_parameter(file, prefix + "q_norm");
  weights.k_norm = find_parameter(file, prefix + "k_norm");
  return weights;
}

void require_equal(const core::SafetensorsFile& file, const char* what,
                   const std::optional<int64_t>& wanted, int64_t got) {
  if (wanted && *wanted != got) {
    throw base::FormatError(file.where() + ": the weights have " + what + " " +
                            std::to_string(got) + ", asked for is " + std::to_string(*wanted));
  }
}

// Tensors of the prefix are parts of this attention.
void refuse_other_tensors(const core::SafetensorsFile& file, const std::string& prefix) {
  constexpr std::string_view kKnown[] = {
      "q_proj.weight", "k_proj.weight",      "v_proj.weight", "o_proj.weight", "q_proj.bias",
      "k_proj.bias",   "v_proj.bias",        "o_proj.bias",   "q_norm.weight", "k_norm.weight",
      "qkv.weight",    "qkv.bias",           "proj.weight",   "proj.bias",     "q_norm",
      "k_norm",        "rotary_emb.inv_freq"};
  for (const std::string& name : file.names()) {
    if (name.starts_with(prefix) && std::find(std::begin(kKnown), std::end(kKnown),
                                              name.substr(prefix.size())) == std::end(kKnown)) {
      throw base::FormatError(file.where() + ": tensor " + base::quote(name) +
                              " changes attention and is not supported");
    }
  }
}

void check_biases(const core::SafetensorsFile& file, const RotaryAttentionWeights& weights,
                  bool wanted) {
  for (const Projection* projection : {&weights.q, &weights.k, &weights.v}) {
    if (projection->bias.has_value() != wanted) {
      throw base::FormatError(
          file.where() + (wanted ? ": a bias of q, k or v is missing" : ": q, k or v has a bias") +
          "; the configuration has attention_bias " + (wanted ? "true" : "false"));
    }
  }
}

core::SafetensorsMetadata metadata_of(const RotaryAttention& module) {
  const RotaryAttentionConfig& config = module.config();
  const RotaryAttentionSizes& sizes = module.sizes();
  core::SafetensorsMetadata metadata{
      {"rope_pairing", std::string(rope_pairing_name(config.pairing))},
      {"rope_theta", base::number_text(config.rope_theta)},
      {"rope_dim", std::to_string(config.rope_dim)},
      {"n_heads", std::to_string(sizes.n_heads)},
      {"n_kv_heads", std::to_string(sizes.n_kv_heads)},
      {"max_seq_len", std::to_string(sizes.max_seq_len)},
      {"causal", config.causal ? "true" : "false"},
      {"norm_eps", base::number_text(config.norm_eps)}};
  if (!std::holds_alternative<RopeUnscaled>(config.rope_scaling)) {
    metadata.emplace_back("rope_scaling", rope_scaling_json(config.rope_scaling));
  }
  if (config.window != 0) {
    metadata.emplace_back("window", std::to_string(config.window));
  }
  if (config.softcap != 0) {
    metadata.emplace_back("softcap", base::number_text(config.softcap));
  }
  if (config.scale) {
    metadata.emplace_back("scale", base::number_text(*config.scale));
  }
  return metadata;
}

}  // namespace

RotaryAttention load_rotary_attention(const core::Queue& queue, const std::string& path,
                                      const RotaryAttentionSettings& settings,
                                      const std::string& prefix) {
  const core::SafetensorsFile file = core::SafetensorsFile::open(path);
  const RotaryAttentionSettings stored = metadata_settings(file);
  const bool fused = file.contains(prefix + "qkv.weight");
  const RotaryAttentionWeights weights =
      fused ? load_fused(file, prefix) : load_separate(file, prefix);

  if (!prefix.empty()) {
    refuse_other_tensors(file, prefix);
  }
  if (settings.attention_bias) {
    check_biases(file, weights, *settings.attention_bias);
  }
  const std::optional<int64_t> n_heads = first_of(settings.n_heads, stored.n_heads);
  const std::optional<int64_t> max_seq_len = first_of(settings.max_seq_len, stored.max_seq_len);
  if (!n_heads || !max_seq_len) {
    throw base::UsageError(file.where() + ": " + (n_heads ? "max_seq_len" : "n_heads") +
                           " is not in the file's metadata; give a config.json with '" +
                           (n_heads ? "max_position_embeddings" : "num_attention_heads") + "'");
  }
  const Shape& q_shape = weights.q.weight.shape();
  const Shape& k_shape = weights.k.weight.shape();
  if (*n_heads < 1 || q_shape[0] < *n_heads || q_shape[0] % *n_heads != 0) {
    throw base::FormatError(file.where() + ": q_proj has " + std::to_string(q_shape[0]) +
                            " rows, which " + std::to_string(*n_heads) +
                            " heads do not divide evenly");
  }
  RotaryAttentionConfig config;
  config.head_dim = q_shape[0] / *n_heads;
  if (k_shape[0] < config.head_dim || k_shape[0] % config.head_dim != 0) {
    throw base::FormatError(file.where() + ": k_proj has " + std::to_string(k_shape[0]) +
                            " rows, which is no multiple of the head size " +
                            std::to_string(config.head_dim));
  }
  const RotaryAttentionSizes sizes{q_shape[1], *n_heads, k_shape[0] / config.head_dim,
                                   *max_seq_len};
  require_equal(file, "dim", settings.dim, sizes.dim);
  require_equal(file, "head_dim", settings.head_dim, config.head_dim);
  require_equal(file, "n_kv_heads", first_of(settings.n_kv_heads, stored.n_kv_heads),
                sizes.n_kv_heads);
  config.pairing = first_of(settings.pairing, stored.pairing)
                       .value_or(fused ? RopePairing::kInterleaved : RopePairing::kHalf);
  config.rope_theta = first_of(settings.rope_theta, stored.rope_theta).value_or(config.rope_theta);
  config.rope_scaling =
      first_of(settings.rope_scaling, stored.rope_scaling).value_or(config.rope_scaling);
  config.rope_dim = first_of(settings.rope_dim, stored.rope_dim).value_or(0);
  config.causal = first_of(settings.causal, stored.causal).value_or(config.causal);
  config.window = first_of(settings.window, stored.window).value_or(config.window);
  config.softcap = first_of(settings.softcap, stored.softcap).value_or(config.softcap);
  config.scale = first_of(settings.scale, stored.scale);
  config.norm_eps = first_of(settings.norm_eps, stored.norm_eps).value_or(config.norm_eps);
  try {
    return RotaryAttention(queue, sizes, config, weights);
  } catch (const base::FormatError& error) {
    throw base::FormatError(file.where() + ": " + error.what());
  } catch (const base::UsageError& error) {
    throw base::UsageError(file.where() + ": " + error.what());
  }
}

void save_rotary_attention(const std::string& path, const RotaryAttention& module,
                           const std::string& prefix) {
  base::OutputFile out(path);
  save_rotary_attention(out, path, module, prefix);
  out.commit();
}

void save_rotary_attention(base::OutputFile& out, const std::string& where,
                           const RotaryAttention& module, const std::string& prefix) {
  std::vector<core::NamedTensor> tensors;
  for (const NamedParameter& parameter : module.parameters()) {
    tensors.push_back({prefix + parameter.name, parameter.tensor.to_host()});
  }
  core::write_safetensors(out, where, tensors, metadata_of(module));
}

}  // namespace netcl::nn
