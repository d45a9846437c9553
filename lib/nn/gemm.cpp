// SPDX-License-Identifier: Apache-2.0
#include "nn/gemm.h"

#include <sstream>

#include "base/error.h"

namespace netcl::nn {

namespace {

GemmPlan wide_plan(int64_t tile_m, int64_t tile_n) {
  constexpr int64_t kTileK = 16;
  constexpr int64_t kItem = 4;
  GemmPlan plan;
  plan.kernel = "gemm";
  plan.macros = {{"TILE_M", std::to_string(tile_m)},
                 {"TILE_N", std::to_string(tile_n)},
                 {"TILE_K", std::to_string(kTileK)},
                 {"ITEM_M", std::to_string(kItem)},
                 {"ITEM_N", std::to_string(kItem)}};
  plan.tile_m = tile_m;
  plan.tile_n = tile_n;
  plan.group_x = static_cast<size_t>(tile_n / kItem);
  plan.group_y = static_cast<size_t>(tile_m / kItem);
  plan.local_bytes = static_cast<uint64_t>(4 * kTileK * (tile_m + tile_n));
  return plan;
}

struct PanelSizes {
  int64_t tile_m, tile_k, vector, panels;
};

GemmPlan panel_plan(const PanelSizes& sizes) {
  constexpr int64_t kItemM = 6;
  constexpr int64_t kVectors = 4;
  const int64_t panel_n = sizes.vector * kVectors;
  GemmPlan plan;
  plan.kernel = "gemm_panel";
  plan.macros = {
      {"TILE_M", std::to_string(sizes.tile_m)}, {"TILE_K", std::to_string(sizes.tile_k)},
      {"ITEM_M", std::to_string(kItemM)},       {"VECTOR", std::to_string(sizes.vector)},
      {"VECTORS", std::to_string(kVectors)},    {"PANELS", std::to_string(sizes.panels)}};
  plan.tile_m = sizes.tile_m;
  plan.tile_n = panel_n * sizes.panels;
  plan.local_bytes = static_cast<uint64_t>(
      4 * (sizes.tile_m * sizes.tile_k + sizes.tile_k * panel_n + sizes.tile_m * plan.tile_n));
  return plan;
}

int64_t tiles(int64_t size, int64_t tile) {
  return size / tile + (size % tile != 0 ? 1 : 0);
}

bool fits(const GemmPlan& plan, const core::DeviceInfo& device) {
  const std::vector<size_t>& axes = device.max_work_item_sizes;
  return plan.group_x * plan.group_y <= device.max_work_group_size &&
         plan.local_bytes <= device.local_mem_bytes &&
         (axes.size() < 2 || (plan.group_x <= axes[0] && plan.group_y <= axes[1]));
}

std::string type_macro(core::DType dtype) {
  NETCL_CHECK(dtype == core::DType::kF32 || dtype == core::DType::kF16 ||
              dtype == core::DType::kBF16);
  return std::string(core::dtype_name(dtype));
}

}  // namespace

std::string GemmPlan::text() const {
  std::ostringstream text;
  text << kernel << ' ' << tile_m << 'x' << tile_n << ", group " << group_x << 'x' << group_y;
  return text.str();
}

std::vector<GemmPlan> gemm_plans(const core::DeviceInfo& device, int64_t m, int64_t n) {
  const PanelSizes large_panel{96, 256, 16, 4};   // few copies of B
  const PanelSizes narrow_panel{96, 256, 16, 1};  // more groups
  const PanelSizes small_panel{24, 64, 4, 1};     // 11.5 KiB of local memory
  std::vector<GemmPlan> wide;
  if (m > 16) {
    wide.push_back(wide_plan(64, 64));
  }
  wide.push_back(wide_plan(16, 64));
  wide.push_back(wide_plan(16, 16));

  std::vector<GemmPlan> panel;
  const GemmPlan large = panel_plan(large_panel);
  const int64_t large_groups = tiles(m, large.tile_m) * tiles(n, large.tile_n);
  if (large_groups >= 2 * static_cast<int64_t>(device.compute_units)) {
    panel.push_back(large);
  }
  panel.push_back(panel_plan(narrow_panel));
  panel.push_back(panel_plan(small_panel));

  const bool runs_items_as_vectors = device.kind == core::DeviceKind::kCpu;
  const std::vector<GemmPlan>& first = runs_items_as_vectors ? panel : wide;
  const std::vector<GemmPlan>& second = runs_items_as_vectors ? wide : panel;
  std::vector<GemmPlan> plans;
  for (const std::vector<GemmPlan>* list : {&first, &second}) {
    for (const GemmPlan& plan : *list) {
      if (fits(plan, device)) {
        plans.push_back(plan);
      }
    }
  }
  return plans;
}

bool run_gemm(const GemmCall& call, const GemmPlan& plan) {
  if (call.m == 0 || call.n == 0) {
    return true;
  }
  core::KernelMacros macros = plan.macros;
  macros["A_TYPE"] = type_macro(call.a.dtype());
  macros["B_TYPE"] = type_macro(call.b.dtype());
  macros["C_TYPE"] = type_macro(call.c.dtype());
  macros["BIAS_TYPE"] = type_macro(call.bias ? call.bias->dtype() : core::DType::kF32);
  macros["B_IS_NK"] = std::to_string(call.b_is_nk ? 1 : 0);
  macros["HAS_BIAS"] = std::to_string(call.bias ? 1 : 0);
  core::Kernel kernel = core::Kernel::get(call.c.queue(), plan.kernel, plan.kernel, macros);
  if (plan.group_x * plan.group_y > kernel.max_work_group_size()) {
    return false;
  }
  kernel.arg(call.c).arg(call.a).arg(call.b);
  if (call.bias) {
    kernel.arg(*call.bias);
  } else {
    kernel.null_arg();
  }
  kernel.arg(static_cast<uint64_t>(call.m))
      .arg(static_cast<uint64_t>(call.n))
      .arg(static_cast<uint64_t>(call.k))
      .run({static_cast<size_t>(tiles(call.n, plan.tile_n)) * plan.group_x,
            static_cast<size_t>(tiles(call.m, plan.tile_m)) * plan.group_y},
           {plan.group_x, plan.group_y});
  return true;
}

void run_gemm(const GemmCall& call) {
  const core::DeviceInfo& device = call.c.queue().device();
  for (const GemmPlan& plan : gemm_plans(device, call.m, call.n)) {
    if (run_gemm(call, plan)) {
      return;
    }
  }
  throw base::DeviceError("kernel gemm: no tile size fits " + device.name + " (group size " +
                          std::to_string(device.max_work_group_size) + ", local memory " +
                          std::to_string(device.local_mem_bytes) + " bytes)");
}

}  // namespace netcl::nn
