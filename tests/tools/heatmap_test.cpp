// SPDX-License-Identifier: Apache-2.0
#include "attn/heatmap.h"

#include <limits>
#include <string>
#include <vector>

#include "attn/heatmap_style.h"
#include "attn/token_label.h"
#include "base/error.h"
#include "support/catch.h"

using namespace netcl;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t pos = text.find(part); pos != std::string::npos; pos = text.find(part, pos + 1)) {
    ++found;
  }
  return found;
}

attn::Heatmap small_map(int64_t heads) {
  attn::Heatmap map;
  map.title = "<title & \x01>";
  map.heads = heads;
  map.q_len = 2;
  map.kv_len = 3;
  for (int64_t head = 0; head < heads; ++head) {
    map.weights.insert(map.weights.end(), {1, 0, 0, 0.25f, 0.75f, 0});
    map.visible.insert(map.visible.end(), {1, 0, 0, 1, 1, 0});
  }
  map.q_labels = {"a<b", "\xE2\x82"};
  map.k_labels = {" x", "\n", "]]>"};
  return map;
}

// Relative luminance of "#rrggbb", from 0 to 1, good enough to order greys and one hue.
double luminance(const std::string& colour) {
  const int rgb = std::stoi(colour.substr(1), nullptr, 16);
  return (0.2126 * (rgb >> 16) + 0.7152 * (rgb >> 8 & 255) + 0.0722 * (rgb & 255)) / 255;
}

}  // namespace

TEST_CASE("token label: blanks and control characters and broken bytes are made visible") {
  CHECK(attn::visible_text(" a b") ==
        "\xE2\x90\xA3"
        "a\xE2\x90\xA3"
        "b");
  CHECK(attn::visible_text("\n\t") == "\xE2\x86\xB5\xE2\x87\xA5");
  CHECK(attn::visible_text(std::string("\0\r\x7F", 3)) == "<00><0D><7F>");
  CHECK(attn::visible_text("\xE2\x82") == "<E2><82>");
  CHECK(attn::visible_text("\xE2\x80\xAE") == "<U+202E>");
  CHECK(attn::visible_text("\xF3\xA0\x80\x81") == "<U+E0001>");
  CHECK(attn::visible_text("\xEF\xBF\xBF") == "<U+FFFF>");
  CHECK(attn::visible_text("") == "\xE2\x88\x85");
  CHECK(attn::visible_text("\xCC\x81") == "\xE2\x97\x8C\xCC\x81");
  CHECK(attn::clean_text("a b\x01") == "a b<01>");
}

TEST_CASE("token label: long texts are cut by columns and wide characters count two") {
  CHECK(attn::shortened("abcdef", 6) == "abcdef");
  CHECK(attn::shortened("abcdefg", 6) == "abcde\xE2\x80\xA6");
  CHECK(attn::column_width("\xE4\xBD\xA0\xE5\xA5\xBD") == 4);
  CHECK(attn::shortened("\xE4\xBD\xA0\xE5\xA5\xBD", 3) == "\xE4\xBD\xA0\xE2\x80\xA6");
}

TEST_CASE("heat map: visible cells carry weights and masked runs are hatched") {
  const std::string svg = attn::render_heatmap(small_map(1));
  CHECK(count(svg, "fill=\"url(#masked)\"") == 3);  // legend, two runs
  CHECK(svg.find("a&lt;b (0) \xE2\x86\x92 \xE2\x90\xA3x (0): 1</title>") != std::string::npos);
  CHECK(svg.find("&lt;E2&gt;&lt;82&gt; (1) \xE2\x86\x92 \xE2\x86\xB5 (1): 0.75</title>") !=
        std::string::npos);
  CHECK(svg.find("may not attend to \xE2\x86\xB5 (1) to ]]&gt; (2)") != std::string::npos);
  CHECK(svg.find("<title>&lt;title &amp; &lt;01&gt;&gt;</title>") != std::string::npos);
  CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
  for (const char c : svg) {
    CHECK_FALSE((static_cast<unsigned char>(c) < 0x20 && c != '\n'));
  }
}

TEST_CASE("heat map: NaN has a colour of its own and left-out heads are named") {
  attn::Heatmap map = small_map(17);
  map.weights[0] = std::numeric_limits<float>::quiet_NaN();
  const std::string svg = attn::render_heatmap(map);
  CHECK(count(svg, "class=\"nan\"") == 1);
  CHECK(svg.find("heads 0 to 15 of 17") != std::string::npos);
  CHECK(count(svg, ">head ") == 16);
}

TEST_CASE("heat map: colours are strictly ordered on light and dark pages") {
  for (int level = 1; level < attn::kHeatmapLevels; ++level) {
    CHECK(luminance(attn::heatmap_colour(level, false)) <
          luminance(attn::heatmap_colour(level - 1, false)));
    CHECK(luminance(attn::heatmap_colour(level, true)) >
          luminance(attn::heatmap_colour(level - 1, true)));
  }
  CHECK(attn::heatmap_level(0) == 0);
  CHECK(attn::heatmap_level(1) == attn::kHeatmapLevels - 1);
  CHECK(attn::heatmap_level(2) == attn::kHeatmapLevels - 1);
}

TEST_CASE("heat map: sizes that cannot be read are refused") {
  CHECK_NOTHROW(attn::check_heatmap_size(1, 128, 128));
  CHECK_THROWS_AS(attn::check_heatmap_size(1, 129, 1), base::UsageError);
  CHECK_THROWS_AS(attn::check_heatmap_size(1, 1, 129), base::UsageError);
  CHECK_THROWS_AS(attn::check_heatmap_size(1, 0, 1), base::UsageError);
  CHECK_THROWS_AS(attn::check_heatmap_size(0, 1, 1), base::UsageError);
}
