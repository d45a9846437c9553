// SPDX-License-Identifier: Apache-2.0
#include "attn/heatmap_style.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace netcl::attn {

namespace {

constexpr double kRadians = 3.14159265358979323846 / 180;

unsigned srgb_byte(double linear) {
  const double clamped = std::clamp(linear, 0.0, 1.0);
  const double encoded =
      clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055;
  return static_cast<unsigned>(std::lround(255 * encoded));
}

// Oklab lightness, chroma and hue (degrees) as "#rrggbb"; clipped to sRGB. Source: B. Ottosson, "A
// perceptual color space for image processing", 2020.
std::string oklch(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(hue * kRadians);
  const double b = chroma * std::sin(hue * kRadians);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x",
                srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) & 255u,
                srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) & 255u,
                srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s) & 255u);
  return text;
}

std::string level_rules(bool dark) {
  std::string css;
  for (int level = 0; level < kHeatmapLevels; ++level) {
    css += ".w" + std::to_string(level) + "{fill:" + heatmap_colour(level, dark) + "}";
  }
  return css + "\n";
}

std::string pixels(double size) {
  char text[32];
  std::snprintf(text, sizeof text, "%gpx", size);
  return text;
}

}  // namespace

int heatmap_level(double weight) {
  NETCL_CHECK(!std::isnan(weight));
  return static_cast<int>(
      std::lround(std::sqrt(std::clamp(weight, 0.0, 1.0)) * (kHeatmapLevels - 1)));
}

std::string heatmap_colour(int level, bool dark) {
  const double t = static_cast<double>(level) / (kHeatmapLevels - 1);
  // Chroma peaks in the middle, where sRGB has most of it.
  const double arch = std::sin((0.08 + 0.84 * t) * 180 * kRadians);
  return dark ? oklch(0.27 + 0.66 * t, 0.03 + 0.10 * arch, 245)
              : oklch(0.965 - 0.665 * t, 0.01 + 0.125 * arch, 255);
}

std::string heatmap_style(double font_px) {
  std::string css = "<style>\n";
  css +=
      "text{font-family:'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;"
      "font-size:" +
      pixels(font_px) +
      ";fill:#1b2430;white-space:pre}\n"
      "text.title{font-size:17px;font-weight:bold}text.head{font-size:13px;font-weight:bold}"
      "text.note,text.tick{font-size:12px;fill:#4a5768}text.axis{fill:#4a5768;font-style:italic}\n"
      ".page{fill:#ffffff}.frame{fill:none;stroke:#8b97a7;stroke-width:1}"
      ".nan{fill:#d4362c}.hatch{fill:#eef0f2}.line{stroke:#c3c9d1;stroke-width:1}\n";
  css += level_rules(false);
  css +=
      "@media (prefers-color-scheme: dark){\n"
      "text{fill:#e6eaf0}text.note,text.tick,text.axis{fill:#a7b2c1}"
      ".page{fill:#14181e}.frame{stroke:#67717f}"
      ".nan{fill:#ff6b5e}.hatch{fill:#171b21}.line{stroke:#3d4652}\n";
  css += level_rules(true);
  css += "}\n</style>\n";
  css +=
      "<defs><pattern id=\"masked\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
      "<rect class=\"hatch\" width=\"6\" height=\"6\"/>"
      "<path class=\"line\" d=\"M-1.5 1.5L1.5 -1.5M0 6L6 0M4.5 7.5L7.5 4.5\"/>"
      "</pattern></defs>\n";
  return css;
}

}  // namespace netcl::attn
