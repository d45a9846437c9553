// SPDX-License-Identifier: Apache-2.0
// What the attention kernels promise beyond the right numbers: invisible elements never leak, bits
// repeat, limits are checked before any launch.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/kernel_engines.h"
#include "support/catch.h"
#include "support/device.h"

namespace netcl::tests {

namespace {

using core::HostTensor;
using core::Shape;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const std::vector<KernelEngine> kEngines = {kNaive,      kWideTiles,  kGroupTiles,
                                            kSmallTiles, kWidePanels, kSmallPanels};

AttentionCase square_case(int64_t length) {
  AttentionCase c;
  c.seed = 5;
  c.q_len = c.kv_len = length;
  c.heads = 2;
  c.head_dim = c.v_head_dim = 8;
  c.options.want_lse = true;
  return c;
}

// Fills row `row` of every head of a [B, heads, T, D] tensor.
void fill_row(HostTensor& tensor, int64_t row, float value) {
  const Shape& shape = tensor.shape();
  const auto elements = tensor.as<float>();
  for (int64_t head = 0; head < shape[0] * shape[1]; ++head) {
    for (int64_t c = 0; c < shape[3]; ++c) {
      elements[static_cast<size_t>((head * shape[2] + row) * shape[3] + c)] = value;
    }
  }
}

void poison_row(HostInputs& inputs, int64_t key, float k_value, float v_value) {
  fill_row(inputs.k, key, k_value);
  fill_row(inputs.v, key, v_value);
}

struct Poison {
  float k, v;
};
const std::vector<Poison> kPoisons = {
    {kNaN, kNaN}, {kInfinity, kInfinity}, {-kInfinity, kNaN}, {1, -kInfinity}};

void check_same_bits(const HostOutputs& got, const HostOutputs& want) {
  CHECK(same_bits(got.y, want.y) == "");
  CHECK(same_bits(*got.lse, *want.lse) == "");
}

}  // namespace

TEST_CASE("attention on device: NaN and infinity at keys that nobody sees change no bit") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase by_length = square_case(70);
  by_length.kv_lens = {41};
  AttentionCase by_window = square_case(70);
  by_window.options.window_left = 3;
  by_window.options.alignment = nn::Alignment::kExplicit;
  by_window.options.offsets = {60};  // row 0 sees key 57 and later
  AttentionCase by_causal = square_case(70);
  by_causal.options.causal = true;
  by_causal.options.alignment = nn::Alignment::kExplicit;
  by_causal.options.offsets = {-30};  // the last row sees key 39
  AttentionCase by_bool_mask = square_case(70);
  by_bool_mask.mask = MaskKind::kBool;
  AttentionCase by_float_mask = square_case(70);
  by_float_mask.mask = MaskKind::kFloat;
  AttentionCase by_short_mask = square_case(70);
  by_short_mask.mask = MaskKind::kBool;
  by_short_mask.mask_columns = 40;
  struct Hidden {
    AttentionCase call;
    int64_t first, last;  // keys that nobody sees
  };
  for (const Hidden& hidden : {Hidden{by_length, 41, 69}, Hidden{by_window, 0, 56},
                               Hidden{by_causal, 40, 69}, Hidden{by_bool_mask, 33, 34},
                               Hidden{by_float_mask, 33, 34}, Hidden{by_short_mask, 40, 69}}) {
    INFO(hidden.call.text());
    HostInputs inputs = make_inputs(hidden.call);
    if (inputs.mask.has_value() && hidden.call.mask_columns < 0) {
      for (int64_t row = 0; row < 70; ++row) {
        for (int64_t key = hidden.first; key <= hidden.last; ++key) {
          const size_t at = static_cast<size_t>(row * 70 + key);
          if (hidden.call.mask == MaskKind::kBool) {
            inputs.mask->as<uint8_t>()[at] = 0;
          } else {
            inputs.mask->as<float>()[at] = -kInfinity;
          }
        }
      }
    }
    for (const KernelEngine& engine : kEngines) {
      const HostOutputs clean = run_kernel(*queue, engine, inputs, hidden.call.options);
      for (const Poison& poison : kPoisons) {
        HostInputs poisoned = inputs;
        for (int64_t key = hidden.first; key <= hidden.last; ++key) {
          poison_row(poisoned, key, poison.k, poison.v);
        }
        check_same_bits(run_kernel(*queue, engine, poisoned, hidden.call.options), clean);
      }
    }
  }
}

TEST_CASE("attention on device: a NaN key reaches the rows that see it and no other") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c = square_case(70);
  c.options.causal = true;
  constexpr int64_t kKey = 40;
  for (const KernelEngine& engine : kEngines) {
    INFO(engine.text());
    HostInputs inputs = make_inputs(c);
    const std::vector<float> clean = run_kernel(*queue, engine, inputs, c.options).y.to_floats();
    for (const Poison& poison : kPoisons) {
      HostInputs poisoned = inputs;
      poison_row(poisoned, kKey, poison.k, poison.v);
      const std::vector<float> got = run_kernel(*queue, engine, poisoned, c.options).y.to_floats();
      int leaked = 0;
      int lost = 0;
      for (size_t at = 0; at < got.size(); ++at) {
        const int64_t row = static_cast<int64_t>(at) / 8 % 70;
        if (row < kKey) {
          leaked += got[at] == clean[at] ? 0 : 1;
        } else if (std::isnan(poison.k) || poison.k == 1) {
          lost += std::isfinite(got[at]) ? 1 : 0;
        }
      }
      CHECK(leaked == 0);
      CHECK(lost == 0);
    }
  }
}

TEST_CASE("attention on device: repeating a call repeats its bits") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c = square_case(130);
  c.mask = MaskKind::kFloat;
  const HostInputs inputs = make_inputs(c);
  for (const KernelEngine& engine : kEngines) {
    INFO(engine.text());
    const HostOutputs first = run_kernel(*queue, engine, inputs, c.options);
    for (int repeat = 0; repeat < 5; ++repeat) {
      check_same_bits(run_kernel(*queue, engine, inputs, c.options), first);
    }
  }
}

TEST_CASE("attention on device: the size of the work-group changes no bit") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c = square_case(75);
  c.options.causal = true;
  const HostInputs inputs = make_inputs(c);
  nn::TileParameters tiles{1, 16, 16, 4, 4};
  const HostOutputs want = run_kernel(*queue, {"tiled", tiles}, inputs, c.options);
  for (const int64_t wg_size : {16, 64}) {
    if (static_cast<size_t>(wg_size) > queue->device().max_work_group_size) {
      continue;
    }
    tiles.wg_size = wg_size;
    INFO(tiles.text());
    check_same_bits(run_kernel(*queue, {"tiled", tiles}, inputs, c.options), want);
  }
}

TEST_CASE("attention on device: tiles fit small devices at every head size") {
  core::DeviceInfo device;
  for (const core::DeviceKind kind : {core::DeviceKind::kCpu, core::DeviceKind::kGpu}) {
    for (const uint64_t local_bytes : {uint64_t{16} << 10, uint64_t{48} << 10}) {
      for (const size_t work_items : {1, 16, 64, 1000}) {
        device.kind = kind;
        device.local_mem_bytes = local_bytes;
        device.max_work_group_size = work_items;
        for (int64_t head_dim = 1; head_dim <= 512; ++head_dim) {
          for (const int64_t q_len : {1, 5, 1000}) {
            const auto tiles = nn::choose_tiles(device, head_dim, 513 - head_dim, q_len);
            REQUIRE(tiles.has_value());
            REQUIRE(nn::tiled_local_bytes(*tiles, head_dim, 513 - head_dim) <= local_bytes);
            REQUIRE(static_cast<size_t>(tiles->wg_size) <= work_items);
            REQUIRE(tiles->rows <= tiles->tile_q);
            REQUIRE(tiles->vec <= tiles->tile_k);
            REQUIRE((tiles->vec == 1 || tiles->vec == 4 || tiles->vec == 8 || tiles->vec == 16));
          }
        }
      }
    }
  }
  CHECK(!nn::choose_tiles(device, 100000, 64, 64).has_value());
  CHECK(!nn::choose_tiles(device, 64, int64_t{1} << 40, 64).has_value());
}

TEST_CASE("attention on device: panels fit small devices and follow their registers") {
  core::DeviceInfo device;
  device.kind = core::DeviceKind::kCpu;
  device.compute_units = 2;
  nn::AttentionProblem problem;
  problem.batch = problem.heads = problem.kv_heads = 1;
  problem.kv_len = 1000;
  for (const uint32_t width : {1, 4, 8, 16, 32}) {
    for (const uint64_t local_bytes : {uint64_t{32} << 10, uint64_t{256} << 10}) {
      device.float_vector_width = width;
      device.local_mem_bytes = local_bytes;
      for (int64_t head_dim = 1; head_dim <= 512; ++head_dim) {
        for (const int64_t q_len : {1, 5, 1000}) {
          problem.head_dim = head_dim;
          problem.v_head_dim = 513 - head_dim;
          problem.q_len = q_len;
          problem.sequences = {{0, 0, q_len, 0, problem.kv_len, 0}};
          const auto panels = nn::choose_panels(device, problem);
          REQUIRE(panels.has_value());
          REQUIRE_NOTHROW(nn::check_panels(*panels));
          REQUIRE(nn::panel_local_bytes(*panels, head_dim, 513 - head_dim) <= local_bytes);
          REQUIRE(panels->vec == std::clamp<int64_t>(width, 4, 16));
        }
      }
    }
  }
  problem.head_dim = int64_t{1} << 40;
  CHECK(!nn::choose_panels(device, problem).has_value());
}

TEST_CASE("attention on device: tiles of the output have one width and fit the registers") {
  const nn::PanelParameters wide;
  struct Want {
    int64_t v_head_dim;
    nn::ValueTile tile;
  };
  for (const Want& want :
       {Want{64, {6, 4}}, Want{80, {3, 5}}, Want{96, {6, 3}}, Want{112, {3, 7}}, Want{128, {6, 4}},
        Want{16, {6, 1}}, Want{1, {6, 1}}, Want{208, {3, 7}}, Want{256, {6, 4}}}) {
    INFO(want.v_head_dim);
    CHECK(nn::value_tile(wide, want.v_head_dim) == want.tile);
  }
  for (const nn::PanelParameters& panels :
       {wide, nn::PanelParameters{48, 512, 6, 8, 2}, nn::PanelParameters{4, 64, 4, 4, 4},
        nn::PanelParameters{1, 4, 1, 4, 1}}) {
    for (int64_t v_head_dim = 1; v_head_dim <= 512; ++v_head_dim) {
      const nn::ValueTile tile = nn::value_tile(panels, v_head_dim);
      REQUIRE(tile.rows >= 1);
      REQUIRE(tile.vectors >= 1);
      REQUIRE(panels.rows % tile.rows == 0);
      REQUIRE((tile.rows + 1) * tile.vectors <= (panels.rows + 1) * panels.vectors);
    }
  }
}

TEST_CASE("attention on device: auto takes panels on CPUs for calls of several rows") {
  core::DeviceInfo device;
  device.kind = core::DeviceKind::kCpu;
  device.max_alloc_bytes = 4 * 1024 * 64;
  nn::AttentionProblem problem;
  problem.batch = problem.heads = problem.kv_heads = 1;
  problem.q_len = 100;
  problem.kv_len = 1024;
  problem.head_dim = problem.v_head_dim = 64;
  problem.sequences = {{0, 0, 100, 0, 1024, 0}};
  const nn::PanelParameters panels;
  CHECK(nn::prefers_panels(device, panels, problem));
  problem.sequences[0].q_end = 1;
  CHECK(!nn::prefers_panels(device, panels, problem));
  problem.sequences[0].q_end = 100;
  problem.v_head_dim = 65;  // packed values one register wider than a buffer holds
  CHECK(!nn::prefers_panels(device, panels, problem));
  problem.v_head_dim = 64;
  device.kind = core::DeviceKind::kGpu;
  CHECK(!nn::prefers_panels(device, panels, problem));
}

TEST_CASE("attention on device: impossible panels are usage errors") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  const AttentionCase c = square_case(3);
  const HostInputs inputs = make_inputs(c);
  for (const nn::PanelParameters& panels :
       {nn::PanelParameters{0, 64, 6, 16, 4}, nn::PanelParameters{8, 64, 6, 16, 4},
        nn::PanelParameters{6, 96, 6, 16, 4}, nn::PanelParameters{6, 64, 6, 2, 4},
        nn::PanelParameters{6, 64, 6, 16, 0}, nn::PanelParameters{6, 0, 6, 16, 4},
        nn::PanelParameters{-6, 64, -6, 16, 4}}) {
    INFO(panels.text());
    CHECK_THROWS_AS(run_kernel(*queue, {"panel", {}, panels}, inputs, c.options), base::UsageError);
  }
}

TEST_CASE("attention on device: far and unbounded scores keep their meaning on panels") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  // Equal scores far from 0 share the weight; a bias of the largest magnitude hides nothing where
  // every key has it.
  for (const float key : {1e5F, 1e9F, 1e20F, -1e9F}) {
    HostInputs inputs;
    inputs.q = core::HostTensor::from_floats({1, 1}, std::vector<float>{64});
    inputs.k = core::HostTensor::from_floats({3, 1}, std::vector<float>{key, key, key});
    inputs.v = core::HostTensor::from_floats({3, 1}, std::vector<float>{1, 2, 6});
    INFO(key);
    CHECK(run_kernel(*queue, kChosenPanels, inputs, {}).y.as<float>()[0] == Approx(3));
    const float lowest = std::numeric_limits<float>::lowest();
    inputs.k = core::HostTensor::from_floats({3, 1}, std::vector<float>{0, 0, 0});
    inputs.mask = core::HostTensor::from_floats({1, 3}, std::vector<float>{lowest, lowest, lowest});
    CHECK(run_kernel(*queue, kChosenPanels, inputs, {}).y.as<float>()[0] == Approx(3));
  }
}

TEST_CASE("attention on device: tiles for small devices give the right result") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  core::DeviceInfo device = queue->device();
  AttentionCase c = square_case(20);
  c.head_dim = c.v_head_dim = 512;
  for (const uint64_t local_bytes : {uint64_t{16} << 10, uint64_t{32} << 10}) {
    device.kind = core::DeviceKind::kGpu;
    device.local_mem_bytes = local_bytes;
    const auto tiles = nn::choose_tiles(device, 512, 512, c.q_len);
    REQUIRE(tiles.has_value());
    CHECK(fault_of(*queue, {KernelEngine{"tiled", tiles}}, c) == "");
  }
}

TEST_CASE("attention on device: a head too large for local memory runs naive or is refused") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c = square_case(2);
  c.head_dim = static_cast<int64_t>(queue->device().local_mem_bytes / 8);
  c.v_head_dim = 1;
  const HostInputs inputs = make_inputs(c);
  CHECK_THROWS_AS(run_kernel(*queue, kChosenTiles, inputs, c.options), base::DeviceError);
  try {
    run_kernel(*queue, kChosenTiles, inputs, c.options);
  } catch (const base::DeviceError& error) {
    CHECK_THAT(error.what(), Catch::Contains(std::to_string(queue->device().local_mem_bytes)));
    CHECK_THAT(error.what(), Catch::Contains("bytes of local memory"));
  }
  check_same_bits(run_kernel(*queue, {"auto", {}}, inputs, c.options),
                  run_kernel(*queue, kNaive, inputs, c.options));
}

TEST_CASE("attention on device: an output too large is refused before any launch") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  // Scores of length x length floats: twice what one buffer may hold.
  const double wanted = 2 * static_cast<double>(queue->device().max_alloc_bytes);
  AttentionCase c;
  c.q_len = c.kv_len = static_cast<int64_t>(std::sqrt(wanted / 4)) + 1;
  c.options.scores = nn::ScoreStage::kWeights;
  const HostInputs inputs = make_inputs(c);
  queue->take_kernel_times();
  for (const KernelEngine& engine : {kNaive, kChosenTiles, kChosenPanels}) {
    try {
      run_kernel(*queue, engine, inputs, c.options);
      FAIL("no error");
    } catch (const base::DeviceError& error) {
      const std::string bytes = std::to_string(4 * c.q_len * c.kv_len);
      CHECK_THAT(error.what(), Catch::Contains(bytes));
    }
  }
  CHECK(queue->take_kernel_times().empty());
}

TEST_CASE("attention on device: unknown kernels and impossible tiles are usage errors") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  const AttentionCase c = square_case(3);
  const HostInputs inputs = make_inputs(c);
  try {
    run_kernel(*queue, {"host", {}}, inputs, c.options);
    FAIL("no error");
  } catch (const base::UsageError& error) {
    CHECK_THAT(error.what(), Catch::Contains("\"host\"") || Catch::Contains("host"));
    CHECK_THAT(error.what(), Catch::Contains("auto, panel, tiled and naive"));
  }
  for (const nn::TileParameters& tiles :
       {nn::TileParameters{0, 8, 8, 1, 1}, nn::TileParameters{3, 8, 8, 1, 1},
        nn::TileParameters{1, 4, 8, 8, 1}, nn::TileParameters{1, 8, 8, 1, 16},
        nn::TileParameters{1, 8, 8, 1, 2}, nn::TileParameters{1, 8, 64, 1, 32},
        nn::TileParameters{1, -8, 8, 1, 1}}) {
    INFO(tiles.text());
    CHECK_THROWS_AS(run_kernel(*queue, {"tiled", tiles}, inputs, c.options), base::UsageError);
  }
  const auto items = static_cast<int64_t>(queue->device().max_work_group_size);
  int64_t too_many = 1;
  while (too_many <= items) {
    too_many *= 2;
  }
  CHECK_THROWS_AS(
      run_kernel(*queue, {"tiled", nn::TileParameters{too_many, 8, 8, 1, 1}}, inputs, c.options),
      base::DeviceError);
}

TEST_CASE("attention on device: calls without queries keys or batches give empty or zero results") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  for (const KernelEngine& engine : kEngines) {
    INFO(engine.text());
    HostInputs inputs;
    nn::AttentionOptions options;
    options.want_lse = true;
    inputs.q = HostTensor(core::DType::kF32, {1, 2, 3, 8});
    inputs.k = inputs.v = HostTensor(core::DType::kF32, {1, 2, 0, 8});
    const HostOutputs no_keys = run_kernel(*queue, engine, inputs, options);
    for (const float value : no_keys.y.to_floats()) {
      CHECK(value == 0);
    }
    for (const float value : no_keys.lse->to_floats()) {
      CHECK(value == -kInfinity);
    }
    inputs.k = inputs.v = inputs.q;
    inputs.q = HostTensor(core::DType::kF32, {1, 2, 0, 8});
    CHECK(run_kernel(*queue, engine, inputs, options).y.shape() == Shape{1, 2, 0, 8});
    inputs.q = inputs.k = inputs.v = HostTensor(core::DType::kF32, {0, 2, 3, 8});
    CHECK(run_kernel(*queue, engine, inputs, options).y.shape() == Shape{0, 2, 3, 8});
  }
}

TEST_CASE("attention on device: each launch leaves its name and times") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c = square_case(9);
  c.past_len = 4;
  c.options.scores = nn::ScoreStage::kMasked;
  const HostInputs inputs = make_inputs(c);
  queue->take_kernel_times();
  run_kernel(*queue, kWideTiles, inputs, c.options);
  std::vector<std::string> names;
  for (const core::KernelTime& time : queue->take_kernel_times()) {
    names.push_back(time.kernel);
    CHECK(time.started_ns <= time.ended_ns);
  }
  CHECK(names ==
        std::vector<std::string>{"kv_concat", "kv_concat", "attention_tiled", "attention_scores"});
}

}  // namespace netcl::tests
