// SPDX-License-Identifier: Apache-2.0
#include "nn/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "base/number_text.h"

namespace netcl::nn {

namespace {

using base::FormatError;
using base::number_text;

constexpr double kSameEndsGap = 0.001;  // keeps a ramp of no width from dividing by zero

// Checks the numbers of one scaling; its messages begin with the type.
class RangeCheck {
 public:
  explicit RangeCheck(std::string_view type) : type_(type) {}

  void positive(const char* field, double value) const {
    if (!std::isfinite(value) || value <= 0) {
      fail(field, number_text(value), "numbers above 0");
    }
  }
  void not_negative(const char* field, double value) const {
    if (!std::isfinite(value) || value < 0) {
      fail(field, number_text(value), "numbers from 0");
    }
  }
  void above(const char* field, double value, const char* other, double least) const {
    if (!(value > least)) {
      fail(field, number_text(value),
           "numbers above " + std::string(other) + " " + number_text(least));
    }
  }
  void from(const char* field, int64_t value, int64_t least) const {
    if (value < least) {
      fail(field, std::to_string(value), "numbers from " + std::to_string(least));
    }
  }

 private:
  [[noreturn]] void fail(const char* field, const std::string& value,
                         const std::string& allowed) const {
    throw FormatError(std::string(type_) + ": " + field + " is " + value + "; allowed are " +
                      allowed);
  }

  std::string_view type_;
};

struct CheckScaling {
  RangeCheck range;

  void operator()(const RopeUnscaled&) const {}
  void operator()(const RopeLinear& s) const { range.positive("factor", s.factor); }
  void operator()(const RopeDynamic& s) const {
    range.positive("factor", s.factor);
    range.from("max_position_embeddings", s.max_positions, 1);
  }
  void operator()(const RopeYarn& s) const {
    range.positive("factor", s.factor);
    range.from("original_max_position_embeddings", s.original_positions, 1);
    range.positive("beta_slow", s.beta_slow);
    range.positive("beta_fast", s.beta_fast);
    range.above("beta_fast", s.beta_fast, "beta_slow", s.beta_slow);
    if (s.attention_factor) {
      range.positive("attention_factor", *s.attention_factor);
    }
    range.not_negative("mscale", s.mscale.value_or(0));
    range.not_negative("mscale_all_dim", s.mscale_all_dim.value_or(0));
  }
  void operator()(const RopeLlama3& s) const {
    range.positive("factor", s.factor);
    range.from("original_max_position_embeddings", s.original_positions, 1);
    range.positive("low_freq_factor", s.low_freq_factor);
    range.positive("high_freq_factor", s.high_freq_factor);
    range.above("high_freq_factor", s.high_freq_factor, "low_freq_factor", s.low_freq_factor);
  }
  void operator()(const RopeLongrope& s) const {
    range.positive("factor", s.factor);
    // The attention factor divides by ln(original_positions).
    range.from("original_max_position_embeddings", s.original_positions, 2);
    if (s.attention_factor) {
      range.positive("attention_factor", *s.attention_factor);
    }
    for (const double divisor : s.short_factor) {
      range.positive("a number of short_factor", divisor);
    }
    for (const double divisor : s.long_factor) {
      range.positive("a number of long_factor", divisor);
    }
  }
};

std::vector<double> unscaled(double theta, int64_t rope_dim) {
  std::vector<double> radians(static_cast<size_t>(rope_dim / 2));
  for (size_t c = 0; c < radians.size(); ++c) {
    radians[c] = std::pow(theta, -2.0 * static_cast<double>(c) / static_cast<double>(rope_dim));
  }
  return radians;
}

double yarn_mscale(double factor, double weight) {
  return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

double yarn_attention_factor(const RopeYarn& s) {
  if (s.attention_factor) {
    return *s.attention_factor;
  }
  const double mscale = s.mscale.value_or(0);
  const double mscale_all_dim = s.mscale_all_dim.value_or(0);
  if (mscale != 0 && mscale_all_dim != 0) {
    return yarn_mscale(s.factor, mscale) / yarn_mscale(s.factor, mscale_all_dim);
  }
  return yarn_mscale(s.factor, 1);
}

// Frequencies of one scaling.
struct MakeFrequencies {
  double theta;
  int64_t rope_dim;
  int64_t sequence_length;

  RopeFrequencies operator()(const RopeUnscaled&) const { return {unscaled(theta, rope_dim), 1}; }

  RopeFrequencies operator()(const RopeLinear& s) const {
    RopeFrequencies made{unscaled(theta, rope_dim), 1};
    for (double& w : made.radians) {
      w /= s.factor;
    }
    return made;
  }

  RopeFrequencies operator()(const RopeDynamic& s) const {
    if (rope_dim == 2) {
      throw FormatError("dynamic: rotary size 2; its exponent R / (R - 2) needs 4 or more");
    }
    if (!changes_with_length(s, sequence_length)) {
      return {unscaled(theta, rope_dim), 1};
    }
    const double r = static_cast<double>(rope_dim);
    const double stretch =
        static_cast<double>(sequence_length) / static_cast<double>(s.max_positions);
    const double base = theta * std::pow(s.factor * stretch - (s.factor - 1), r / (r - 2));
    return {unscaled(base, rope_dim), 1};
  }

  // The pair, as a real number, that turns `turns` times in the original positions.
  double yarn_pair(const RopeYarn& s, double turns) const {
    const double wavelength = static_cast<double>(s.original_positions) / turns;
    return static_cast<double>(rope_dim) * std::log(wavelength / (2 * std::numbers::pi)) /
           (2 * std::log(theta));
  }

  RopeFrequencies operator()(const RopeYarn& s) const {
    if (theta <= 1) {
      throw FormatError("yarn: theta is " + number_text(theta) + "; allowed are numbers above 1");
    }
    double low = yarn_pair(s, s.beta_fast);
    double high = yarn_pair(s, s.beta_slow);
    if (s.truncate) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(rope_dim - 1));
    if (low == high) {
      high += kSameEndsGap;
    }
    RopeFrequencies made{unscaled(theta, rope_dim), yarn_attention_factor(s)};
    for (size_t c = 0; c < made.radians.size(); ++c) {
      const double ramp = std::clamp((static_cast<double>(c) - low) / (high - low), 0.0, 1.0);
      made.radians[c] = made.radians[c] / s.factor * ramp + made.radians[c] * (1 - ramp);
    }
    return made;
  }

  RopeFrequencies operator()(const RopeLlama3& s) const {
    const double original = static_cast<double>(s.original_positions);
    RopeFrequencies made{unscaled(theta, rope_dim), 1};
    for (double& w : made.radians) {
      const double wavelength = 2 * std::numbers::pi / w;
      if (wavelength > original / s.low_freq_factor) {
        w /= s.factor;
      } else if (wavelength >= original / s.high_freq_factor) {
        const double kept =
            (original / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
        w = (1 - kept) * w / s.factor + kept * w;
      }
    }
    return made;
  }

  RopeFrequencies operator()(const RopeLongrope& s) const {
    const size_t pairs = static_cast<size_t>(rope_dim / 2);
    const auto check_length = [&](const char* field, size_t count) {
      if (count != pairs) {
        throw FormatError("longrope: length of " + std::string(field) + " is " +
                          std::to_string(count) + "; a rotary size of " + std::to_string(rope_dim) +
                          " needs " + std::to_string(pairs));
      }
    };
    check_length("short_factor", s.short_factor.size());
    check_length("long_factor", s.long_factor.size());
    const std::vector<double>& divisors =
        changes_with_length(s, sequence_length) ? s.long_factor : s.short_factor;
    RopeFrequencies made{unscaled(theta, rope_dim), 1};
    for (size_t c = 0; c < pairs; ++c) {
      made.radians[c] /= divisors[c];
    }
    if (s.attention_factor) {
      made.attention_factor = *s.attention_factor;
    } else if (s.factor > 1) {
      made.attention_factor =
          std::sqrt(1 + std::log(s.factor) / std::log(static_cast<double>(s.original_positions)));
    }
    return made;
  }
};

}  // namespace

std::string_view rope_scaling_name(const RopeScaling& scaling) {
  constexpr std::string_view kNames[] = {"default", "linear", "dynamic",
                                         "yarn",    "llama3", "longrope"};
  static_assert(std::size(kNames) == std::variant_size_v<RopeScaling>);
  return kNames[scaling.index()];
}

double rope_scaling_factor(const RopeScaling& scaling) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { s.factor; }) {
          return s.factor;
        } else {
          return 1.0;
        }
      },
      scaling);
}

void check_rope_scaling(const RopeScaling& scaling) {
  std::visit(CheckScaling{RangeCheck(rope_scaling_name(scaling))}, scaling);
}

bool changes_with_length(const RopeScaling& scaling, int64_t sequence_length) {
  if (const auto* dynamic = std::get_if<RopeDynamic>(&scaling)) {
    return sequence_length > dynamic->max_positions;
  }
  if (const auto* longrope = std::get_if<RopeLongrope>(&scaling)) {
    return sequence_length > longrope->original_positions;
  }
  return false;
}

RopeFrequencies rope_frequencies(const RopeScaling& scaling, double theta, int64_t rope_dim,
                                 int64_t sequence_length) {
  check_rope_scaling(scaling);
  return std::visit(MakeFrequencies{theta, rope_dim, sequence_length}, scaling);
}

}  // namespace netcl::nn
