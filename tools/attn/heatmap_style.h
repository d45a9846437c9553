// SPDX-License-Identifier: Apache-2.0
// Colours and type of the heat map.
#ifndef NETCL_TOOLS_ATTN_HEATMAP_STYLE_H_
#define NETCL_TOOLS_ATTN_HEATMAP_STYLE_H_

#include <string>

namespace netcl::attn {

constexpr int kHeatmapLevels = 40;  // colour steps, CSS classes w0 to w39

// Step of a weight: its square root, so that the small weights of long rows can be told apart.
// NaN has no step (NETCL_CHECK).
int heatmap_level(double weight);

// "#rrggbb" of a step: one hue, even steps of Oklab lightness, away from a light or a dark page.
std::string heatmap_colour(int level, bool dark);

// The <style> and <defs> elements: classes of all parts, for light and dark pages, and the hatching
// "masked". `font_px` is the size of axis labels.
std::string heatmap_style(double font_px);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_HEATMAP_STYLE_H_
