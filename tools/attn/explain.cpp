// SPDX-License-Identifier: Apache-2.0
#include "attn/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "base/error.h"

namespace netcl::attn {

namespace {

constexpr double kPlainExponent = 20;  // larger ones are shown less the row's maximum
constexpr double kPlainNumber = 1e6;   // larger ones are shown as powers of ten
constexpr int64_t kTermsMaxDim = 4;    // the sum for an output row is shown up to this width
constexpr double kNothing = -std::numeric_limits<double>::infinity();

using Format = std::function<std::string(double)>;

std::string fixed(double value, int decimals) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  char text[64];
  std::snprintf(text, sizeof text, std::fabs(value) >= kPlainNumber ? "%.*e" : "%.*f", decimals,
                value);
  std::string out = text;
  // A value that rounds to zero has no sign.
  if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos) {
    out.erase(0, 1);
  }
  return out;
}

// Three decimals, the last zeros left out as on paper: 1.0, 0.707.
std::string score(double value) {
  std::string out = fixed(value, 3);
  if (out.find_first_not_of("-0123456789.") == std::string::npos) {
    while (out.ends_with('0') && !out.ends_with(".0")) {
      out.pop_back();
    }
  }
  return out;
}

std::string weight(double value) {
  return fixed(value, 3);
}

std::string matrix(const std::vector<double>& values, int64_t rows, int64_t columns,
                   const Format& format) {
  std::vector<std::string> cells;
  size_t width = 0;
  for (const double value : values) {
    cells.push_back(format(value));
    width = std::max(width, cells.back().size());
  }
  std::string out;
  for (int64_t i = 0; i < rows; ++i) {
    out += "   ";
    for (int64_t j = 0; j < columns; ++j) {
      const std::string& cell = cells[static_cast<size_t>(i * columns + j)];
      out += std::string(width - cell.size() + (j == 0 ? 0 : 2), ' ') + cell;
    }
    out += "\n";
  }
  return out;
}

std::string list(const double* values, int64_t count, const Format& format) {
  std::string out = "[";
  for (int64_t i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ", ") + format(values[i]);
  }
  return out + "]";
}

// "row 1: e^0.0 = 1.0, e^1.414 = 4.113; sum 5.113; weights [0.196, 0.804, 0.000]"
std::string softmax_line(const ExplainPart& part, int64_t row, int64_t kv_len) {
  const double* scores = &part.masked[static_cast<size_t>(row * kv_len)];
  const double* weights = &part.weights[static_cast<size_t>(row * kv_len)];
  std::string out = "   row " + std::to_string(row) + ": ";
  const bool has_sink = part.sink != kNothing;
  double maximum = part.sink;
  bool any = false;
  for (int64_t j = 0; j < kv_len; ++j) {
    maximum = std::max(maximum, scores[j]);
    any = any || scores[j] != kNothing;
  }
  if (!any) {
    return out + "no visible key; all weights are 0\n";
  }
  const bool shifted = std::fabs(maximum) > kPlainExponent;
  double sum = 0;
  std::string terms;
  for (int64_t j = 0; j < kv_len; ++j) {
    if (scores[j] == kNothing) {
      continue;
    }
    const double power = std::exp(shifted ? scores[j] - maximum : scores[j]);
    sum += power;
    terms += (terms.empty() ? "e^" : ", e^") +
             (shifted ? std::string("(") + score(scores[j]) + " - " + score(maximum) + ")"
                      : score(scores[j])) +
             " = " + score(power);
  }
  if (has_sink) {
    const double power = std::exp(shifted ? part.sink - maximum : part.sink);
    sum += power;
    terms += "; sink e^" +
             (shifted ? "(" + score(part.sink) + " - " + score(maximum) + ")" : score(part.sink)) +
             " = " + score(power);
  }
  return out + terms + "; sum " + score(sum) + "; weights " + list(weights, kv_len, weight) + "\n";
}

// "row 1: 0.196 * [10.0, 1.0] + 0.804 * [20.0, 2.0] = [18.04, 1.80]"
std::string output_line(const Explanation& all, const ExplainPart& part, int64_t row,
                        const Format& format) {
  std::string terms;
  for (int64_t j = 0; j < all.kv_len; ++j) {
    const auto cell = static_cast<size_t>(row * all.kv_len + j);
    if (part.masked[cell] == kNothing) {
      continue;
    }
    terms += (terms.empty() ? "" : " + ") + weight(part.weights[cell]) + " * " +
             list(&part.v[static_cast<size_t>(j * all.v_head_dim)], all.v_head_dim, score);
  }
  return "   row " + std::to_string(row) + ": " + (terms.empty() ? "no visible key" : terms) +
         " = " + list(&part.y[static_cast<size_t>(row * all.v_head_dim)], all.v_head_dim, format) +
         "\n";
}

std::string explain_part(const Explanation& all, const ExplainPart& part) {
  std::string out;
  int step = 0;
  const auto title = [&](const std::string& text) {
    out += '\n';
    out += std::to_string(++step) + ". " + text + "\n";
  };
  const auto show = [&](const std::vector<double>& values, const Format& format) {
    out += matrix(values, all.q_len, all.kv_len, format);
  };
  title("Raw dot products Q K^T");
  show(part.raw, score);
  title(all.default_scale
            ? "Scaled by 1/sqrt(" + std::to_string(all.head_dim) + ") = " + score(all.scale)
            : "Scaled by " + score(all.scale));
  show(part.scaled, score);
  if (!part.softcap.empty()) {
    title("Soft cap " + score(all.softcap) + " * tanh(score / " + score(all.softcap) + ")");
    show(part.softcap, score);
  }
  title((all.alibi ? "Less slope * distance (ALiBi), masked (" : "Masked (") +
        (all.mask.empty() ? "nothing is hidden" : all.mask) + ")");
  show(part.masked, score);
  title("Softmax of each row");
  for (int64_t i = 0; i < all.q_len; ++i) {
    out += softmax_line(part, i, all.kv_len);
  }
  out += "   A =\n";
  show(part.weights, weight);
  title("Output O = A V");
  double largest = 0;
  for (const double value : part.y) {
    largest = std::max(largest, std::fabs(value));
  }
  const Format result = [&](double value) { return fixed(value, largest < 1 ? 4 : 2); };
  for (int64_t i = 0; i < all.q_len && all.v_head_dim <= kTermsMaxDim; ++i) {
    out += output_line(all, part, i, result);
  }
  out += "   O =\n" + matrix(part.y, all.q_len, all.v_head_dim, result);
  return out;
}

}  // namespace

void check_explain_size(int64_t batch, int64_t heads, int64_t q_len, int64_t kv_len,
                        int64_t v_head_dim) {
  const auto text = [](int64_t value) { return std::to_string(value); };
  if (q_len > kExplainMaxTokens || kv_len > kExplainMaxTokens) {
    throw base::UsageError("--explain: " + text(q_len) + " queries by " + text(kv_len) +
                           " keys; at most " + text(kExplainMaxTokens) + " by " +
                           text(kExplainMaxTokens) + " are explained");
  }
  if (v_head_dim > kExplainMaxDim || batch * heads > kExplainMaxParts) {
    throw base::UsageError("--explain: " + text(batch) + " x " + text(heads) + " heads of " +
                           text(v_head_dim) + " values; at most " + text(kExplainMaxParts) +
                           " heads of " + text(kExplainMaxDim) + " are explained");
  }
}

std::string explain(const Explanation& all) {
  std::string out = "Attention: " + std::to_string(all.q_len) + " queries, " +
                    std::to_string(all.kv_len) + " keys, head_dim " + std::to_string(all.head_dim) +
                    "\n";
  if (!all.rotation.empty()) {
    out += "Q and K are rotated by position: RoPE, " + all.rotation + "\n";
  }
  for (const ExplainPart& part : all.parts) {
    if (all.parts.size() > 1) {
      out += "\nBatch " + std::to_string(part.batch) + ", head " + std::to_string(part.head) + "\n";
    }
    out += explain_part(all, part);
  }
  return out;
}

}  // namespace netcl::attn
