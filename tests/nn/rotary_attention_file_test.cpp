// SPDX-License-Identifier: Apache-2.0
#include "nn/rotary_attention_file.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "core/safetensors_file.h"
#include "support/catch.h"
#include "support/device.h"
#include "support/temp_dir.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using core::DType;
using core::HostTensor;
using core::NamedTensor;
using core::Shape;
using core::Tensor;
using nn::RopePairing;
using nn::RotaryAttention;
using nn::RotaryAttentionConfig;
using nn::RotaryAttentionSettings;

core::Queue host_queue() {
  return core::DeviceManager::open("host").queue;
}

HostTensor normal_tensor(const Shape& shape, uint64_t seed) {
  base::Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (float& value : values) {
    value = static_cast<float>(rng.normal());
  }
  return HostTensor::from_floats(shape, values);
}

RotaryAttentionSettings known(int64_t n_heads, int64_t max_seq_len) {
  RotaryAttentionSettings settings;
  settings.n_heads = n_heads;
  settings.max_seq_len = max_seq_len;
  return settings;
}

// Tensors of a small module under Hugging Face names: 2 heads of 4, 1 KV head, dim 6.
std::vector<NamedTensor> small_module(const std::string& prefix) {
  return {{prefix + "q_proj.weight", normal_tensor({8, 6}, 1)},
          {prefix + "k_proj.weight", normal_tensor({4, 6}, 2)},
          {prefix + "v_proj.weight", normal_tensor({4, 6}, 3)},
          {prefix + "o_proj.weight", normal_tensor({6, 8}, 4)}};
}

std::string load_error(const std::string& path, const RotaryAttentionSettings& settings) {
  try {
    nn::load_rotary_attention(host_queue(), path, settings);
  } catch (const base::FormatError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("module file: a saved module loads with all its conventions") {
  const tests::TempDir dir;
  RotaryAttentionConfig config;
  config.bias = true;
  config.qk_norm = true;
  config.pairing = RopePairing::kHalf;
  config.rope_theta = 123456.789;
  config.rope_dim = 4;
  config.causal = false;
  config.norm_eps = 1e-5;
  config.seed = 9;
  const RotaryAttention module(host_queue(), 24, 3, 1, 11, config);
  const std::string prefix = "model.layers.0.self_attn.";
  nn::save_rotary_attention(dir.file("m.safetensors"), module, prefix);
  const RotaryAttention loaded =
      nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), {}, prefix);
  CHECK(loaded.sizes().dim == 24);
  CHECK(loaded.sizes().n_heads == 3);
  CHECK(loaded.sizes().n_kv_heads == 1);
  CHECK(loaded.sizes().max_seq_len == 11);
  CHECK(loaded.config().pairing == RopePairing::kHalf);
  CHECK(loaded.config().rope_theta == config.rope_theta);
  CHECK(loaded.config().rope_dim == 4);
  CHECK_FALSE(loaded.config().causal);
  CHECK(loaded.config().norm_eps == 1e-5);
  CHECK(loaded.config().bias);
  CHECK(loaded.config().qk_norm);
  REQUIRE(loaded.parameters().size() == module.parameters().size());
  for (size_t i = 0; i < module.parameters().size(); ++i) {
    CHECK(loaded.parameters()[i].name == module.parameters()[i].name);
    CHECK(loaded.parameters()[i].tensor.to_host().to_floats() ==
          module.parameters()[i].tensor.to_host().to_floats());
  }
  const core::SafetensorsFile file = core::SafetensorsFile::open(dir.file("m.safetensors"));
  CHECK(file.contains(prefix + "q_proj.weight"));
  CHECK(file.load(prefix + "k_proj.weight").shape() == Shape{8, 24});

  // Settings win over the metadata.
  RotaryAttentionSettings settings;
  settings.pairing = RopePairing::kInterleaved;
  settings.rope_theta = 10;
  settings.causal = true;
  const RotaryAttention other =
      nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), settings, prefix);
  CHECK(other.config().pairing == RopePairing::kInterleaved);
  CHECK(other.config().rope_theta == 10);
  CHECK(other.config().causal);
}

TEST_CASE("module file: a checkpoint without metadata has half pairing") {
  const tests::TempDir dir;
  core::write_safetensors(dir.file("m.safetensors"), small_module(""));
  const RotaryAttention module =
      nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), known(2, 16));
  CHECK(module.config().pairing == RopePairing::kHalf);
  CHECK(module.config().rope_theta == 10000);
  CHECK(module.config().head_dim == 4);
  CHECK(module.sizes().dim == 6);
  CHECK(module.sizes().n_kv_heads == 1);
  CHECK_FALSE(module.config().qk_norm);
  CHECK_THROWS_AS(nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), {}),
                  base::UsageError);
  CHECK_THROWS_AS(nn::load_rotary_attention(host_queue(), dir.file("none.safetensors"), {}),
                  base::IoError);
}

TEST_CASE("module file: biases may stand on some projections and types may differ") {
  const tests::TempDir dir;
  std::vector<NamedTensor> tensors = small_module("a.");
  tensors[0].tensor = tensors[0].tensor.to(DType::kBF16);
  tensors[1].tensor = tensors[1].tensor.to(DType::kF16);
  tensors[2].tensor = tensors[2].tensor.to(DType::kF64);
  tensors.push_back({"a.q_proj.bias", normal_tensor({8}, 5)});
  tensors.push_back({"b.other", normal_tensor({3}, 6)});
  core::write_safetensors(dir.file("m.safetensors"), tensors);
  const RotaryAttention module =
      nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), known(2, 16), "a.");
  CHECK(module.parameters().size() == 5);
  CHECK(module.find_parameter("q_proj.weight")->dtype() == DType::kBF16);
  CHECK(module.find_parameter("v_proj.weight")->dtype() == DType::kF32);
  CHECK(module.find_parameter("q_proj.bias"));
  CHECK(module.config().bias);
}

TEST_CASE("module file: what is missing or disagrees is named") {
  const tests::TempDir dir;
  const std::string path = dir.file("m.safetensors");
  const auto error = [&](const auto& change, const RotaryAttentionSettings& settings) {
    std::vector<NamedTensor> tensors = small_module("");
    core::SafetensorsMetadata metadata;
    change(tensors, metadata);
    core::write_safetensors(path, tensors, metadata);
    const std::string message = load_error(path, settings);
    CHECK_THAT(message, Contains(path));
    return message;
  };
  using Tensors = std::vector<NamedTensor>;
  using Metadata = core::SafetensorsMetadata;
  CHECK_THAT(error([](Tensors& t, Metadata&) { t.pop_back(); }, known(2, 16)),
             Contains("o_proj.weight"));
  CHECK_THAT(error([](Tensors&, Metadata&) {}, known(3, 16)), Contains("3 heads"));
  CHECK_THAT(error([](Tensors&, Metadata&) {}, known(16, 16)), Contains("16 heads"));
  CHECK_THAT(error(
                 [](Tensors& t, Metadata&) {
                   t[1].tensor = normal_tensor({3, 6}, 1);
                 },
                 known(2, 16)),
             Contains("k_proj"));
  CHECK_THAT(error(
                 [](Tensors& t, Metadata&) {
                   t[2].tensor = normal_tensor({8, 6}, 1);
                 },
                 known(2, 16)),
             Contains("v_proj.weight"));
  CHECK_THAT(
      error([](Tensors& t, Metadata&) { t[3].tensor = normal_tensor({6}, 1); }, known(2, 16)),
      Contains("o_proj.weight"));
  CHECK_THAT(error(
                 [](Tensors& t, Metadata&) {
                   t[0].tensor = HostTensor(DType::kI32, {8, 6});
                 },
                 known(2, 16)),
             Contains("q_proj.weight") && Contains("i32"));
  CHECK_THAT(error(
                 [](Tensors& t, Metadata&) {
                   t[0].tensor = HostTensor(DType::kF32, {0, 6});
                 },
                 known(2, 16)),
             Contains("q_proj"));
  CHECK_THAT(error(
                 [](Tensors& t, Metadata&) {
                   t.push_back({"q_norm.weight", normal_tensor({4}, 1)});
                 },
                 known(2, 16)),
             Contains("k_norm.weight"));
  RotaryAttentionSettings settings = known(2, 16);
  settings.n_kv_heads = 2;
  CHECK_THAT(error([](Tensors&, Metadata&) {}, settings), Contains("n_kv_heads 1"));
  settings = known(2, 16);
  settings.dim = 8;
  CHECK_THAT(error([](Tensors&, Metadata&) {}, settings), Contains("dim 6"));
  for (const auto& [key, value] : Metadata{{"rope_pairing", "both"},
                                           {"rope_theta", "ten"},
                                           {"n_heads", "2x"},
                                           {"max_seq_len", ""},
                                           {"causal", "yes"},
                                           {"window", "wide"},
                                           {"rope_scaling", "{}"},
                                           {"rope_scaling", "{\"rope_type\": \"ntk\"}"}}) {
    CHECK_THAT(error([&](Tensors&, Metadata& m) { m.emplace_back(key, value); }, known(2, 16)),
               Contains("metadata " + key));
  }
}

TEST_CASE("module file: tensors that would change attention are refused by name") {
  const tests::TempDir dir;
  const auto error = [&](const std::string& name, const std::string& prefix) -> std::string {
    std::vector<NamedTensor> tensors = small_module(prefix);
    tensors.push_back({prefix + "rotary_emb.inv_freq", normal_tensor({2}, 5)});
    tensors.push_back({prefix + name, normal_tensor({2}, 6)});
    core::write_safetensors(dir.file("m.safetensors"), tensors);
    try {
      nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), known(2, 16), prefix);
    } catch (const base::FormatError& refusal) {
      return refusal.what();
    }
    return {};
  };
  CHECK_THAT(error("sinks", "a.self_attn."), Contains("tensor 'a.self_attn.sinks'"));
  CHECK_THAT(error("q_proj.weight_scale", "a."), Contains("'a.q_proj.weight_scale'"));
  CHECK(error("other", "").empty());  // the whole file may hold more than a module
}

TEST_CASE("module file: attention_bias must be what the weights have") {
  const tests::TempDir dir;
  std::vector<NamedTensor> tensors = small_module("");
  RotaryAttentionSettings settings = known(2, 16);
  core::write_safetensors(dir.file("m.safetensors"), tensors);
  settings.attention_bias = false;
  CHECK(load_error(dir.file("m.safetensors"), settings).empty());
  settings.attention_bias = true;
  CHECK_THAT(load_error(dir.file("m.safetensors"), settings),
             Contains("is missing") && Contains("attention_bias true"));
  for (const auto& [name, size] : {std::pair{"q_proj.bias", 8}, {"k_proj.bias", 4}}) {
    tensors.push_back({name, normal_tensor({size}, 5)});
  }
  core::write_safetensors(dir.file("m.safetensors"), tensors);
  CHECK_THAT(load_error(dir.file("m.safetensors"), settings), Contains("is missing"));
  tensors.push_back({"v_proj.bias", normal_tensor({4}, 5)});
  core::write_safetensors(dir.file("m.safetensors"), tensors);
  CHECK(load_error(dir.file("m.safetensors"), settings).empty());
  settings.attention_bias = false;
  CHECK_THAT(load_error(dir.file("m.safetensors"), settings),
             Contains("has a bias") && Contains("attention_bias false"));
}

TEST_CASE("module file: the fused layout of the course's package loads as its parts") {
  const tests::TempDir dir;
  const int64_t dim = 6;
  const HostTensor qkv = normal_tensor({dim, 3 * dim}, 1);
  const HostTensor bias = normal_tensor({3 * dim}, 2);
  const HostTensor proj = normal_tensor({dim, dim}, 3);
  std::vector<NamedTensor> tensors{{"qkv.weight", qkv},
                                   {"qkv.bias", bias},
                                   {"proj.weight", proj},
                                   {"q_norm", normal_tensor({2}, 4)},
                                   {"k_norm", normal_tensor({2}, 5)}};
  core::write_safetensors(dir.file("m.safetensors"), tensors);
  const RotaryAttention module =
      nn::load_rotary_attention(host_queue(), dir.file("m.safetensors"), known(3, 8));
  CHECK(module.config().pairing == RopePairing::kInterleaved);
  CHECK(module.config().qk_norm);
  CHECK(module.sizes().n_kv_heads == 3);
  const std::vector<float> k = module.find_parameter("k_proj.weight")->to_host().to_floats();
  const std::vector<float> v_bias = module.find_parameter("v_proj.bias")->to_host().to_floats();
  const std::vector<float> o = module.find_parameter("o_proj.weight")->to_host().to_floats();
  for (size_t row = 0; row < 6; ++row) {
    CHECK(v_bias[row] == bias.to_floats()[12 + row]);
    for (size_t column = 0; column < 6; ++column) {
      CHECK(k[row * 6 + column] == qkv.to_floats()[column * 18 + 6 + row]);
      CHECK(o[row * 6 + column] == proj.to_floats()[column * 6 + row]);
    }
  }
  tensors[1].tensor = normal_tensor({6}, 2);
  core::write_safetensors(dir.file("m.safetensors"), tensors);
  CHECK_THAT(load_error(dir.file("m.safetensors"), known(3, 8)), Contains("qkv.weight"));
}

TEST_CASE("module file: results of the course's package are reproduced") {
  struct Golden {
    const char* name;
    int64_t n_heads;
    double rope_theta;
  };
  for (const Golden& golden : {Golden{"d2", 3, 10000}, Golden{"bias_base500", 6, 500}}) {
    CAPTURE(golden.name);
    const std::string path =
        std::string(NETCL_GOLDEN_DIR) + "/netcl_rotary_" + golden.name + ".safetensors";
    const core::SafetensorsFile file = core::SafetensorsFile::open(path);
    const HostTensor x = file.load("x");
    const std::vector<double> want = file.load("y").to_doubles();
    RotaryAttentionSettings settings = known(golden.n_heads, x.shape()[1]);
    settings.rope_theta = golden.rope_theta;
    std::vector<core::Queue> queues{host_queue()};
    if (const auto device = tests::require_device_queue()) {
      queues.push_back(*device);
    }
    for (const core::Queue& queue : queues) {
      const RotaryAttention module = nn::load_rotary_attention(queue, path, settings);
      const std::vector<double> y = module(Tensor::from_host(queue, x)).to_host().to_doubles();
      REQUIRE(y.size() == want.size());
      for (size_t i = 0; i < y.size(); ++i) {
        REQUIRE(std::fabs(y[i] - want[i]) <= 1e-5);
      }
    }
  }
}
