// SPDX-License-Identifier: Apache-2.0
// Attention weights as one self-contained SVG picture.
#ifndef NETCL_TOOLS_ATTN_HEATMAP_H_
#define NETCL_TOOLS_ATTN_HEATMAP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace netcl::attn {

constexpr int64_t kHeatmapMaxTokens = 128;  // on either axis
constexpr int64_t kHeatmapMaxHeads = 16;  // panels drawn; the caption says when heads are left out

struct Heatmap {
  std::string title;
  std::vector<std::string> notes;  // lines below the title: shape, mask, device
  int64_t heads = 0, q_len = 0, kv_len = 0;
  std::vector<float> weights;         // [heads, q_len, kv_len], 0 to 1
  std::vector<uint8_t> visible;       // same shape; 0 = the query may not attend to the key
  std::vector<std::string> q_labels;  // token bytes, q_len of them
  std::vector<std::string> k_labels;  // kv_len
};

// Queries are rows, keys are columns, one panel a head. Colour is the square root of the weight on
// one hue of even lightness steps; masked cells are hatched; every cell has a tooltip. Readable on
// light and dark pages (prefers-color-scheme). Requires the sizes above to agree (NETCL_CHECK).
std::string render_heatmap(const Heatmap& map);

// Throws UsageError when there is nothing to draw or a picture of this many tokens would not be
// readable.
void check_heatmap_size(int64_t batch, int64_t q_len, int64_t kv_len);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_HEATMAP_H_
