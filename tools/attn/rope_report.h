// SPDX-License-Identifier: Apache-2.0
// What a run says of its RoPE, in --report, --explain, the heat map and with -v.
#ifndef NETCL_TOOLS_ATTN_ROPE_REPORT_H_
#define NETCL_TOOLS_ATTN_ROPE_REPORT_H_

#include <cstdint>
#include <string>

#include "nn/rope.h"

namespace netcl::attn {

struct RopeReport {
  std::string pairing;   // "half", "interleaved"
  std::string type;      // Hugging Face rope_type
  int64_t rope_dim = 0;  // rotated elements of a head
  double theta = 0;
  double factor = 1;            // of the scaling
  double attention_factor = 1;  // of cos and sin
  bool by_length = false;       // dynamic, longrope
  int64_t sequence_length = 0;  // what they go by
  bool rescaled = false;        // it is beyond the length of training
};

// `table` with its rope_dim filled in.
RopeReport report_rope(const nn::RopeOptions& table, nn::RopePairing pairing);

// "half pairs of 64 elements, theta 10000", then the scaling, as in ", yarn by 4, attention factor
// 1.13863" or ", longrope by 32, short list for 100 positions".
std::string rope_text(const RopeReport& rope);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_ROPE_REPORT_H_
