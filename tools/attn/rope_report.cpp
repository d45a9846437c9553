// SPDX-License-Identifier: Apache-2.0
#include "attn/rope_report.h"

#include <cstdio>
#include <variant>

#include "nn/rope_scaling.h"

namespace netcl::attn {

namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

RopeReport report_rope(const nn::RopeOptions& table, nn::RopePairing pairing) {
  RopeReport rope;
  rope.pairing = nn::rope_pairing_name(pairing);
  rope.type = nn::rope_scaling_name(table.scaling);
  rope.rope_dim = table.rope_dim;
  rope.theta = table.theta;
  rope.factor = nn::rope_scaling_factor(table.scaling);
  rope.attention_factor =
      nn::rope_frequencies(table.scaling, table.theta, table.rope_dim, table.sequence_length)
          .attention_factor;
  rope.by_length = std::holds_alternative<nn::RopeDynamic>(table.scaling) ||
                   std::holds_alternative<nn::RopeLongrope>(table.scaling);
  rope.sequence_length = table.sequence_length;
  rope.rescaled = nn::changes_with_length(table.scaling, table.sequence_length);
  return rope;
}

std::string rope_text(const RopeReport& rope) {
  std::string text = rope.pairing + " pairs of " + std::to_string(rope.rope_dim) +
                     " elements, theta " + short_number(rope.theta);
  if (rope.type == "default") {
    return text;
  }
  text += ", " + rope.type + " by " + short_number(rope.factor);
  if (rope.by_length) {
    const char* const longrope = rope.rescaled ? ", long list for " : ", short list for ";
    const char* const dynamic = rope.rescaled ? ", scaled for " : ", not scaled for ";
    text += (rope.type == "longrope" ? longrope : dynamic) + std::to_string(rope.sequence_length) +
            " positions";
  }
  if (rope.attention_factor != 1) {
    text += ", attention factor " + short_number(rope.attention_factor);
  }
  return text;
}

}  // namespace netcl::attn
