// SPDX-License-Identifier: Apache-2.0
// Any JSON object is a model's attention or a FormatError; its scaling has frequencies or a
// FormatError, and reads back from its own text.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/json_file.h"
#include "nn/rope_config.h"
#include "nn/rotary_attention_config.h"

namespace {

using namespace netcl;

void read_rope(const base::Json& config) {
  const nn::RopeConfig rope = nn::parse_rope_config(config, "input.json");
  const std::string text = nn::rope_scaling_json(rope.scaling);
  NETCL_CHECK(nn::parse_rope_config(base::parse_json(text, "again.json"), "again.json").scaling ==
              rope.scaling);
  nn::rotary_size(rope, rope.head_dim.value_or(8));
  for (const int64_t length : {int64_t{1}, int64_t{1000}, INT64_MAX}) {
    NETCL_CHECK(
        nn::rope_frequencies(rope.scaling, rope.theta.value_or(10000), 8, length).radians.size() ==
        4);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::Json config;
  try {
    config = base::parse_json({reinterpret_cast<const char*>(data), size}, "input.json");
  } catch (const base::FormatError&) {
    return 0;
  }
  if (!config.is_object()) {
    return 0;
  }
  try {
    nn::parse_rotary_attention_config(config, "input.json");
  } catch (const base::FormatError&) {
  }
  try {
    read_rope(config);
  } catch (const base::FormatError&) {
  }
  return 0;
}
