// SPDX-License-Identifier: Apache-2.0
#include "attn/heatmap.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attn/heatmap_style.h"
#include "attn/token_label.h"
#include "base/error.h"

namespace netcl::attn {

namespace {

constexpr size_t kLabelColumns = 24;  // longer labels are cut; the tooltip has more of them
constexpr size_t kTooltipColumns = 200;
constexpr double kMargin = 20;
constexpr double kPanelGap = 28;
constexpr double kColumnAdvance = 0.61;  // width of a column of the fonts, in font sizes
constexpr double kNoteFont = 12;
constexpr double kTitleFont = 17;
constexpr double kNoteLine = 17;
constexpr double kHeadLine = 22;     // "head 0" above a panel
constexpr double kLegendStep = 8;    // width of a colour step
constexpr double kLegendBar = 14;    // its height
constexpr double kLegendBlock = 52;  // bar, ticks and the space below
// Key labels lean, so that heads need not tilt all the way.
const double kLeanSin = std::sin(std::acos(-1.0) / 3);
const double kLeanCos = std::cos(std::acos(-1.0) / 3);

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string out = text;
  if (out.ends_with(".0")) {
    out.resize(out.size() - 2);
  }
  return out;
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + number(value) + "\"";
}

std::string weight_text(double weight) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", weight);
  return std::isnan(weight) ? "NaN" : text;
}

double text_width(std::string_view utf8, double font) {
  return static_cast<double>(column_width(utf8)) * kColumnAdvance * font;
}

// A token's label on an axis (cut) and in tooltips, ready for XML.
struct Label {
  std::string axis;
  std::string whole;
  size_t columns = 0;
};

std::vector<Label> make_labels(const std::vector<std::string>& tokens) {
  std::vector<Label> labels;
  for (const std::string& token : tokens) {
    const std::string visible = visible_text(token);
    const std::string cut = shortened(visible, kLabelColumns);
    labels.push_back(
        {escape_xml(cut), escape_xml(shortened(visible, kTooltipColumns)), column_width(cut)});
  }
  return labels;
}

size_t longest(const std::vector<Label>& labels) {
  size_t columns = 1;
  for (const Label& label : labels) {
    columns = std::max(columns, label.columns);
  }
  return columns;
}

class HeatmapWriter {
 public:
  explicit HeatmapWriter(const Heatmap& map);
  std::string write();

 private:
  void set_page_size();
  void write_head_of_page();
  void write_legend(double y);
  void write_panel(int64_t head, double x, double y, bool with_query_labels);
  void write_row(int64_t head, int64_t row);
  void write_masked_run(int64_t row, int64_t first, int64_t end);
  void write_text(double x, double y, const std::string& css_class, const std::string& escaped,
                  const std::string& attributes = "");

  const Heatmap& map_;
  std::vector<std::string> notes_;
  std::vector<Label> q_labels_, k_labels_;
  int64_t panels_ = 0, panel_columns_ = 1, panel_rows_ = 1;
  double cell_ = 0, font_ = 0;
  double q_label_width_ = 0, k_label_height_ = 0, k_label_overhang_ = 0;
  double panel_width_ = 0, panel_height_ = 0;
  double panels_y_ = 0;  // top of the first row of panels, its key labels included
  double width_ = 0, height_ = 0;
  std::string out_;
};

HeatmapWriter::HeatmapWriter(const Heatmap& map)
    : map_(map),
      notes_(map.notes),
      q_labels_(make_labels(map.q_labels)),
      k_labels_(make_labels(map.k_labels)),
      panels_(std::min(map.heads, kHeatmapMaxHeads)) {
  if (panels_ < map.heads) {
    notes_.push_back("heads 0 to " + std::to_string(panels_ - 1) + " of " +
                     std::to_string(map.heads));
  }
  notes_.push_back("rows: query tokens, columns: key tokens, colour: weight (square-root scale)");
  while (panel_columns_ * panel_columns_ < panels_) {
    ++panel_columns_;
  }
  panel_rows_ = (panels_ + panel_columns_ - 1) / panel_columns_;
  const auto longer = static_cast<double>(std::max<int64_t>({map.q_len, map.kv_len, 1}));
  const double wanted = (panels_ == 1 ? 760 : 420) / longer;
  cell_ = std::round(std::clamp(wanted, 13.0, panels_ == 1 ? 44.0 : 32.0));
  font_ = cell_ >= 16 ? 12 : 10.5;
  const double k_label = static_cast<double>(longest(k_labels_)) * kColumnAdvance * font_;
  q_label_width_ = std::max(static_cast<double>(longest(q_labels_)) * kColumnAdvance * font_ + 8,
                            text_width("queries \xE2\x86\x93", font_) + 8);
  k_label_height_ = k_label * kLeanSin + font_ + 4;
  k_label_overhang_ = k_label * kLeanCos;
  panel_width_ = cell_ * static_cast<double>(map.kv_len);
  panel_height_ = cell_ * static_cast<double>(map.q_len);
  set_page_size();
}

void HeatmapWriter::set_page_size() {
  const double panel_columns = static_cast<double>(panel_columns_);
  const double panel_rows = static_cast<double>(panel_rows_);
  const double panels_width =
      q_label_width_ + panel_columns * panel_width_ + (panel_columns - 1) * kPanelGap;
  double content = std::max(panels_width + std::max(0.0, k_label_overhang_ - 4),
                            kLegendStep * kHeatmapLevels + 190);
  content = std::max(content, text_width(clean_text(map_.title), kTitleFont));
  for (const std::string& note : notes_) {
    content = std::max(content, text_width(clean_text(note), kNoteFont));
  }
  panels_y_ =
      kMargin + kTitleFont + 10 + kNoteLine * static_cast<double>(notes_.size()) + kLegendBlock;
  width_ = std::ceil(content + 2 * kMargin);
  height_ = std::ceil(panels_y_ + panel_rows * (kHeadLine + k_label_height_ + panel_height_) +
                      (panel_rows - 1) * kPanelGap + kMargin);
}

void HeatmapWriter::write_text(double x, double y, const std::string& css_class,
                               const std::string& escaped, const std::string& attributes) {
  out_ += "<text" + attribute("x", x) + attribute("y", y) +
          (css_class.empty() ? "" : " class=\"" + css_class + "\"") + attributes + ">" + escaped +
          "</text>\n";
}

void HeatmapWriter::write_head_of_page() {
  const std::string title = escape_xml(clean_text(map_.title));
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width_) +
         attribute("height", height_) + " viewBox=\"0 0 " + number(width_) + " " + number(height_) +
         "\" role=\"img\">\n<title>" + title + "</title>\n" + heatmap_style(font_) +
         "<rect class=\"page\"" + attribute("width", width_) + attribute("height", height_) +
         "/>\n";
  double y = kMargin + kTitleFont - 3;
  write_text(kMargin, y, "title", title);
  y += 5;
  for (const std::string& note : notes_) {
    y += kNoteLine;
    write_text(kMargin, y, "note", escape_xml(clean_text(note)));
  }
  write_legend(y + 14);
}

void HeatmapWriter::write_legend(double y) {
  for (int level = 0; level < kHeatmapLevels; ++level) {
    out_ += "<rect class=\"w" + std::to_string(level) + "\"" +
            attribute("x", kMargin + kLegendStep * level) + attribute("y", y) +
            attribute("width", kLegendStep + (level + 1 < kHeatmapLevels ? 0.5 : 0)) +
            attribute("height", kLegendBar) + "/>\n";
  }
  const double bar = kLegendStep * kHeatmapLevels;
  out_ += "<rect class=\"frame\"" + attribute("x", kMargin) + attribute("y", y) +
          attribute("width", bar) + attribute("height", kLegendBar) + "/>\n";
  for (const char* tick : {"0", "0.01", "0.05", "0.1", "0.25", "0.5", "1"}) {
    const double x = kMargin + bar * std::sqrt(std::strtod(tick, nullptr));
    out_ += "<path class=\"frame\" d=\"M" + number(x) + " " + number(y + kLegendBar) + "v4\"/>\n";
    write_text(x, y + kLegendBar + 16, "tick", tick, " text-anchor=\"middle\"");
  }
  const double swatch = kMargin + bar + 26;
  out_ += "<rect fill=\"url(#masked)\" stroke-width=\"1\"" + attribute("x", swatch) +
          attribute("y", y) + attribute("width", 24) + attribute("height", kLegendBar) + "/>\n";
  out_ += "<rect class=\"frame\"" + attribute("x", swatch) + attribute("y", y) +
          attribute("width", 24) + attribute("height", kLegendBar) + "/>\n";
  write_text(swatch + 32, y + kLegendBar - 3, "note", "may not attend");
}

void HeatmapWriter::write_masked_run(int64_t row, int64_t first, int64_t end) {
  out_ += "<rect fill=\"url(#masked)\"" + attribute("x", cell_ * static_cast<double>(first)) +
          attribute("width", cell_ * static_cast<double>(end - first)) +
          attribute("height", cell_) + "><title>" + q_labels_[static_cast<size_t>(row)].whole +
          " (" + std::to_string(row) + ") may not attend to " +
          k_labels_[static_cast<size_t>(first)].whole + " (" + std::to_string(first) + ")";
  if (end - first > 1) {
    out_ += " to " + k_labels_[static_cast<size_t>(end - 1)].whole + " (" +
            std::to_string(end - 1) + ")";
  }
  out_ += "</title></rect>\n";
}

void HeatmapWriter::write_row(int64_t head, int64_t row) {
  const auto base = static_cast<size_t>((head * map_.q_len + row) * map_.kv_len);
  const std::string query =
      q_labels_[static_cast<size_t>(row)].whole + " (" + std::to_string(row) + ")";
  out_ += "<g transform=\"translate(0," + number(cell_ * static_cast<double>(row)) + ")\">\n";
  for (int64_t column = 0; column < map_.kv_len;) {
    const auto k = static_cast<size_t>(column);
    if (map_.visible[base + k] == 0) {
      int64_t end = column + 1;
      while (end < map_.kv_len && map_.visible[base + static_cast<size_t>(end)] == 0) {
        ++end;
      }
      write_masked_run(row, column, end);
      column = end;
      continue;
    }
    const double weight = map_.weights[base + k];
    out_ +=
        "<rect class=\"" +
        (std::isnan(weight) ? "nan" : std::string("w") + std::to_string(heatmap_level(weight))) +
        "\"" + attribute("x", cell_ * static_cast<double>(column)) + attribute("width", cell_) +
        attribute("height", cell_) + "><title>" + query + " \xE2\x86\x92 " + k_labels_[k].whole +
        " (" + std::to_string(column) + "): " + weight_text(weight) + "</title></rect>\n";
    ++column;
  }
  out_ += "</g>\n";
}

void HeatmapWriter::write_panel(int64_t head, double x, double y, bool with_query_labels) {
  const double grid_y = y + kHeadLine + k_label_height_;
  write_text(x, y + 13, "head", "head " + std::to_string(head));
  for (int64_t column = 0; column < map_.kv_len; ++column) {
    const double label_x = x + cell_ * (static_cast<double>(column) + 0.5) + font_ * 0.3;
    const double label_y = grid_y - 5;
    write_text(label_x, label_y, "", k_labels_[static_cast<size_t>(column)].axis,
               " transform=\"rotate(-60 " + number(label_x) + " " + number(label_y) + ")\"");
  }
  if (with_query_labels) {
    const std::string anchor = " text-anchor=\"end\"";
    write_text(x - 8, grid_y - 6 - font_ * 1.3, "axis", "keys \xE2\x86\x92", anchor);
    write_text(x - 8, grid_y - 6, "axis", "queries \xE2\x86\x93", anchor);
    for (int64_t row = 0; row < map_.q_len; ++row) {
      write_text(x - 8, grid_y + cell_ * (static_cast<double>(row) + 0.5) + font_ * 0.36, "",
                 q_labels_[static_cast<size_t>(row)].axis, anchor);
    }
  }
  out_ += "<g transform=\"translate(" + number(x) + "," + number(grid_y) +
          ")\" shape-rendering=\"crispEdges\">\n";
  for (int64_t row = 0; row < map_.q_len; ++row) {
    write_row(head, row);
  }
  out_ += "<rect class=\"frame\"" + attribute("width", panel_width_) +
          attribute("height", panel_height_) + "/>\n</g>\n";
}

std::string HeatmapWriter::write() {
  write_head_of_page();
  for (int64_t head = 0; head < panels_; ++head) {
    const int64_t column = head % panel_columns_;
    const int64_t row = head / panel_columns_;
    write_panel(head,
                kMargin + q_label_width_ + static_cast<double>(column) * (panel_width_ + kPanelGap),
                panels_y_ + static_cast<double>(row) *
                                (kHeadLine + k_label_height_ + panel_height_ + kPanelGap),
                column == 0);
  }
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace

std::string render_heatmap(const Heatmap& map) {
  const auto count = static_cast<size_t>(map.heads * map.q_len * map.kv_len);
  NETCL_CHECK(map.weights.size() == count && map.visible.size() == count);
  NETCL_CHECK(map.q_labels.size() == static_cast<size_t>(map.q_len));
  NETCL_CHECK(map.k_labels.size() == static_cast<size_t>(map.kv_len));
  return HeatmapWriter(map).write();
}

void check_heatmap_size(int64_t batch, int64_t q_len, int64_t kv_len) {
  if (batch < 1) {
    throw base::UsageError("--heatmap: the batch is empty");
  }
  if (q_len < 1 || kv_len < 1 || q_len > kHeatmapMaxTokens || kv_len > kHeatmapMaxTokens) {
    throw base::UsageError("--heatmap: " + std::to_string(q_len) + " queries by " +
                           std::to_string(kv_len) + " keys; a picture shows 1 to " +
                           std::to_string(kHeatmapMaxTokens) +
                           " tokens on either axis, use --weights for the numbers");
  }
}

}  // namespace netcl::attn
