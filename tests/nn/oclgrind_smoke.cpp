// SPDX-License-Identifier: Apache-2.0
// Runs the smallest meaningful shape of every kernel on a device and compares the results: a small
// program for Oclgrind, where a work-item costs milliseconds.
//
//   oclgrind_smoke [DEVICE [NUMBER]]        default auto and all calls; NUMBER: that call alone
//
// Prints a line per call and "N passed, N failed"; exit code 1 when one failed, a kernel of this
// build was not run (asked of devices with work-groups of 64), or there is no device.
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/kernel_source.h"
#include "nn/embedding.h"
#include "nn/gemm.h"
#include "nn/kernel_engines.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"
#include "nn/rope.h"

namespace netcl::tests {

namespace {

using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;

constexpr double kTolerance = 1e-5;

struct Smoke {
  core::Queue queue;
  int only = -1;  // number of the one call to run; -1 = all
  int calls = 0;
  int passed = 0;
  int failed = 0;

  // `call` returns what is wrong, or nothing.
  void run(const std::string& name, const std::function<std::string()>& call) {
    if (only >= 0 && only != calls++) {
      return;
    }
    std::string fault;
    try {
      fault = call();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    std::cout << (fault.empty() ? "ok " : "FAILED ") << name << (fault.empty() ? "" : ": ") << fault
              << std::endl;
    ++(fault.empty() ? passed : failed);
  }
};

HostTensor normal_tensor(const Shape& shape, uint64_t seed) {
  base::Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (float& value : values) {
    value = static_cast<float>(rng.normal());
  }
  return HostTensor::from_floats(shape, values);
}

std::string compare(const HostTensor& got, const HostTensor& want) {
  const Difference worst = difference(got, want);
  return worst.error <= kTolerance ? "" : worst.text;
}

// Two tiles of keys and of queries, a tail, two batches, shared KV heads, every option at once.
AttentionCase small_case() {
  AttentionCase c;
  c.seed = 3;
  c.batch = 2;
  c.heads = 2;
  c.q_len = 9;
  c.kv_len = 7;
  c.past_len = 4;
  c.head_dim = 3;
  c.v_head_dim = 5;
  c.mask = MaskKind::kFloat;
  c.mask_columns = 10;
  c.kv_lens = {11, 6};
  c.options.causal = true;
  c.options.window_left = 8;
  c.options.softcap = 2;
  c.alibi = c.alibi_by_batch = true;
  c.sinks = true;
  c.options.want_lse = true;
  c.options.scores = nn::ScoreStage::kWeights;
  return c;
}

// Sequences shorter and longer than a tile, an empty one, one without keys.
AttentionCase packed_case() {
  AttentionCase c = small_case();
  c.batch = 1;
  c.past_len = -1;
  c.kv_lens.clear();
  c.q_len = 13;
  c.kv_len = 14;
  c.mask_columns = 12;
  c.cu_seqlens_q = {0, 2, 2, 4, 13};
  c.cu_seqlens_k = {0, 3, 4, 4, 14};
  return c;
}

void run_attention_kernels(Smoke& smoke) {
  std::vector<KernelEngine> engines = {kNaive, kChosenTiles, kChosenPanels, kSmallPanels};
  for (const int64_t wg_size : {1, 16, 64}) {
    if (static_cast<size_t>(wg_size) <= smoke.queue.device().max_work_group_size) {
      engines.push_back({"tiled", nn::TileParameters{wg_size, 8, 8, 2, 4}});
      engines.push_back({"tiled", nn::TileParameters{wg_size, 4, 4, 1, 1}});
    }
  }
  AttentionCase halves = small_case();
  halves.q_dtype = DType::kF16;
  halves.kv_dtype = DType::kBF16;
  halves.mask = MaskKind::kBool;
  halves.options.layout = nn::Layout::kPacked;
  halves.options.heads = 2;
  halves.options.kv_heads = 1;
  for (const KernelEngine& engine : engines) {
    smoke.run("attention " + engine.text(),
              [&] { return fault_of(smoke.queue, {engine}, small_case()); });
    smoke.run("attention of packed sequences " + engine.text(),
              [&] { return fault_of(smoke.queue, {engine}, packed_case()); });
    smoke.run("attention of 16-bit elements " + engine.text(),
              [&] { return fault_of(smoke.queue, {engine}, halves); });
  }
}

void run_products(Smoke& smoke) {
  for (const nn::WeightLayout layout : {nn::WeightLayout::kOutIn, nn::WeightLayout::kInOut}) {
    const HostTensor x = normal_tensor({5, 19}, 1);
    const bool is_nk = layout == nn::WeightLayout::kOutIn;
    const HostTensor weight = normal_tensor(is_nk ? Shape{7, 19} : Shape{19, 7}, 2);
    const HostTensor bias = normal_tensor({7}, 3);
    const HostTensor want = nn::linear_reference(x, weight, &bias, layout);
    for (const nn::GemmPlan& plan : nn::gemm_plans(smoke.queue.device(), 5, 7)) {
      smoke.run(plan.text(), [&] {
        nn::GemmCall call{Tensor::empty(smoke.queue, DType::kF32, {5, 7}),
                          Tensor::from_host(smoke.queue, x),
                          Tensor::from_host(smoke.queue, weight),
                          Tensor::from_host(smoke.queue, bias),
                          is_nk,
                          5,
                          7,
                          19};
        // A plan may be refused once the kernel is built; the next one serves then.
        return nn::run_gemm(call, plan) ? compare(call.c.to_host(), want) : std::string();
      });
    }
  }
}

void run_rows(Smoke& smoke) {
  smoke.run("embedding", [&] {
    const HostTensor table = normal_tensor({5, 3}, 4);
    const std::vector<int64_t> ids = {4, 0, 2};
    const Tensor rows =
        nn::embedding(Tensor::from_host(smoke.queue, table), HostTensor::from_int64s({3}, ids));
    std::vector<float> want;
    for (const int64_t id : ids) {
      const auto row = table.as<float>().subspan(static_cast<size_t>(id) * 3, 3);
      want.insert(want.end(), row.begin(), row.end());
    }
    return same_bits(rows.to_host(), HostTensor::from_floats({3, 3}, want));
  });
  smoke.run("rms_norm", [&] {
    const HostTensor x = normal_tensor({3, 5}, 5);
    const HostTensor gamma = normal_tensor({5}, 6);
    return compare(
        nn::rms_norm(Tensor::from_host(smoke.queue, x), Tensor::from_host(smoke.queue, gamma), 1e-6)
            .to_host(),
        nn::rms_norm_reference(x, gamma, 1e-6));
  });
  for (const nn::RopePairing pairing : {nn::RopePairing::kHalf, nn::RopePairing::kInterleaved}) {
    smoke.run("rope " + std::string(nn::rope_pairing_name(pairing)), [&] {
      const HostTensor x = normal_tensor({2, 2, 3, 6}, 7);
      nn::RopeOptions options;
      options.head_dim = 6;
      options.rope_dim = 4;
      options.max_positions = 9;
      const nn::RopeAngles angles = nn::rope_angles(options);
      nn::RopeCall call;
      call.pairing = pairing;
      call.offset = 2;
      const nn::RopeTable table(smoke.queue, options);
      return compare(nn::apply_rope(Tensor::from_host(smoke.queue, x), table, call).to_host(),
                     nn::rope_reference(x, angles.cos, angles.sin, call));
    });
  }
}

void check_all_launched(Smoke& smoke) {
  std::set<std::string> launched;
  for (const core::KernelTime& time : smoke.queue.take_kernel_times()) {
    launched.insert(time.kernel);
  }
  for (const core::EmbeddedKernel& kernel : core::embedded_kernels()) {
    const std::string name(kernel.name);
    smoke.run("kernel " + name + " was run",
              [&] { return launched.count(name) > 0 ? std::string() : "never launched"; });
  }
}

int run_all(const std::string& device, int only) {
  Smoke smoke{core::DeviceManager::open(device).queue, only};
  if (smoke.queue.is_host()) {
    std::cerr << "oclgrind_smoke: no OpenCL device\n";
    return 1;
  }
  run_attention_kernels(smoke);
  run_products(smoke);
  run_rows(smoke);
  if (only < 0 && smoke.queue.device().max_work_group_size >= 64) {
    check_all_launched(smoke);
  }
  std::cout << smoke.passed << " passed, " << smoke.failed << " failed\n";
  return smoke.failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace netcl::tests

int main(int argc, char** argv) {
  try {
    return netcl::tests::run_all(argc > 1 ? argv[1] : "auto", argc > 2 ? std::stoi(argv[2]) : -1);
  } catch (const std::exception& error) {
    std::cerr << "oclgrind_smoke: " << error.what() << '\n';
    return 1;
  }
}
