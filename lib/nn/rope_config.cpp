// SPDX-License-Identifier: Apache-2.0
#include "nn/rope_config.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/number_text.h"
#include "nn/config_fields.h"

namespace netcl::nn {

namespace {

using base::FormatError;
using base::Json;

// Keys that change RoPE in ways that are not here, or that are other models' names for what is.
constexpr const char* kOtherRopeKeys[] = {
    "mrope_section",         "rotary_pct",        "rotary_dim",       "rotary_emb_base",
    "rotary_embedding_base", "global_rope_theta", "local_rope_theta", "layer_rope_theta",
    "compress_rope_theta"};

// Where the parameters of RoPE stand: `rope` may be `config` itself.
struct RopeSource {
  const Json& config;
  const Json& rope;
  std::string where;       // of config
  std::string rope_where;  // of rope
  bool by_layer = false;
};

[[noreturn]] void throw_unsupported(const std::string& where, const char* key, const Json& value) {
  throw FormatError(where + ": field '" + key + "': " + base::quote(base::to_text(value)) +
                    "; it changes RoPE and is not supported");
}

void refuse_other_keys(const Json& object, const std::string& where) {
  for (const char* key : kOtherRopeKeys) {
    if (const Json* value = find_field(object, key)) {
      throw_unsupported(where, key, *value);
    }
  }
}

// Equal in any order of fields.
bool same_fields(const Json& a, const Json& b) {
  return nlohmann::json(a) == nlohmann::json(b);
}

bool has_type(const Json& object) {
  return object.contains("rope_type") || object.contains("type");
}

// The parameters of the one layer type of the file, or those that all types share.
const Json& choose_layer(const Json& by_layer, const Json& config, const std::string& where) {
  if (const std::optional<std::string> type = only_layer_type(config, where)) {
    if (const Json* chosen = find_field(by_layer, type->c_str())) {
      return *chosen;
    }
    throw FormatError(where + ": field 'rope_parameters': nothing for layer type " +
                      base::quote(*type));
  }
  for (const Json& parameters : by_layer) {
    if (!same_fields(parameters, by_layer.front())) {
      throw FormatError(where + ": field 'rope_parameters': differs by layer type; keep one of " +
                        base::quote(base::to_text(by_layer)));
    }
  }
  return by_layer.front();
}

RopeSource find_source(const Json& config, const std::string& where) {
  const auto find_object = [&](const char* key) -> const Json* {
    const Json* value = find_field(config, key);
    if (value != nullptr && !value->is_object()) {
      throw FormatError(where + ": field '" + key + "': " + base::quote(base::to_text(*value)) +
                        "; needed is an object");
    }
    return value == nullptr || value->empty() ? nullptr : value;
  };
  const Json* const old_key = find_object("rope_scaling");
  const Json* const new_key = find_object("rope_parameters");
  if (old_key != nullptr && new_key != nullptr && !same_fields(*old_key, *new_key)) {
    throw FormatError(where + ": fields 'rope_scaling' and 'rope_parameters' differ; keep one");
  }
  const Json* const found = old_key != nullptr ? old_key : new_key;
  if (found == nullptr) {
    static const Json nothing = Json::object();
    const bool is_value = has_type(config) && find_field(config, "num_attention_heads") == nullptr;
    return {config, is_value ? config : nothing, where, where};
  }
  const char* const key = old_key != nullptr ? "rope_scaling" : "rope_parameters";
  const std::string rope_where = where + ": " + key;
  const bool by_layer = std::any_of(found->begin(), found->end(),
                                    [](const Json& value) { return value.is_object(); });
  if (!by_layer) {
    return {config, *found, where, rope_where};
  }
  const Json& chosen = choose_layer(*found, config, where);
  if (!chosen.is_object()) {
    throw FormatError(where + ": field '" + key + "': " + base::quote(base::to_text(*found)) +
                      "; some layers do not rotate");
  }
  return {config, chosen, where, rope_where, true};
}

double require_number(const RopeSource& source, const char* key) {
  base::require_field(source.rope, key, source.rope_where);
  const std::optional<double> value = find_number(source.rope, key, source.rope_where);
  if (!value) {
    throw FormatError(source.rope_where + ": field '" + key + "' is null");
  }
  return *value;
}

std::vector<double> require_numbers(const RopeSource& source, const char* key) {
  const Json& list = base::require_field(source.rope, key, source.rope_where);
  std::vector<double> numbers;
  const bool good = list.is_array() && std::all_of(list.begin(), list.end(),
                                                   [](const Json& n) { return n.is_number(); });
  if (!good) {
    throw FormatError(source.rope_where + ": field '" + key +
                      "': " + base::quote(base::to_text(list)) + "; needed is a list of numbers");
  }
  for (const Json& number : list) {
    numbers.push_back(number.get<double>());
  }
  return numbers;
}

std::optional<int64_t> max_positions(const RopeSource& source) {
  return find_count(source.config, "max_position_embeddings", source.where);
}

int64_t original_positions(const RopeSource& source) {
  constexpr const char* kKey = "original_max_position_embeddings";
  if (!source.by_layer) {
    if (const auto beside = find_count(source.config, kKey, source.where)) {
      return *beside;
    }
  }
  if (const auto own = find_count(source.rope, kKey, source.rope_where)) {
    return *own;
  }
  if (const auto all = max_positions(source)) {
    return *all;
  }
  throw FormatError(source.rope_where + ": field '" + kKey + "' is missing");
}

// yarn and longrope: the given factor, else by how much the positions grew.
double stretch(const RopeSource& source, int64_t original) {
  if (const auto factor = find_number(source.rope, "factor", source.rope_where)) {
    return *factor;
  }
  if (const auto all = max_positions(source)) {
    return static_cast<double>(*all) / static_cast<double>(original);
  }
  throw FormatError(source.rope_where +
                    ": field 'factor' is missing, and so is 'max_position_embeddings'");
}

RopeDynamic read_dynamic(const RopeSource& source) {
  const std::optional<int64_t> positions = max_positions(source);
  if (!positions) {
    throw FormatError(source.where +
                      ": field 'max_position_embeddings' is missing; dynamic scales from there on");
  }
  return {require_number(source, "factor"), *positions};
}

RopeYarn read_yarn(const RopeSource& source) {
  const auto number = [&](const char* key) {
    return find_number(source.rope, key, source.rope_where);
  };
  RopeYarn yarn;
  yarn.original_positions = original_positions(source);
  yarn.factor = stretch(source, yarn.original_positions);
  yarn.beta_fast = number("beta_fast").value_or(yarn.beta_fast);
  yarn.beta_slow = number("beta_slow").value_or(yarn.beta_slow);
  yarn.truncate = find_bool(source.rope, "truncate", source.rope_where).value_or(true);
  yarn.attention_factor = number("attention_factor");
  yarn.mscale = number("mscale");
  yarn.mscale_all_dim = number("mscale_all_dim");
  return yarn;
}

RopeLlama3 read_llama3(const RopeSource& source) {
  return {require_number(source, "factor"), require_number(source, "low_freq_factor"),
          require_number(source, "high_freq_factor"), original_positions(source)};
}

RopeLongrope read_longrope(const RopeSource& source) {
  RopeLongrope longrope;
  longrope.short_factor = require_numbers(source, "short_factor");
  longrope.long_factor = require_numbers(source, "long_factor");
  longrope.original_positions = original_positions(source);
  longrope.factor = stretch(source, longrope.original_positions);
  longrope.attention_factor = find_number(source.rope, "attention_factor", source.rope_where);
  return longrope;
}

// Numbers that mean something only with a type.
void refuse_untyped(const RopeSource& source) {
  for (const char* key : {"factor", "short_factor", "long_factor", "low_freq_factor", "beta_fast",
                          "attention_factor", "mscale"}) {
    if (find_field(source.rope, key) != nullptr) {
      throw FormatError(source.rope_where + ": field '" + key + "' without a 'rope_type'");
    }
  }
}

RopeScaling read_scaling(const RopeSource& source) {
  const char* const key = find_field(source.rope, "rope_type") != nullptr ? "rope_type" : "type";
  const std::optional<std::string> type = find_string(source.rope, key, source.rope_where);
  if (!type) {
    refuse_untyped(source);
    return RopeUnscaled{};
  }
  if (*type == "default") {
    return RopeUnscaled{};
  }
  if (*type == "linear") {
    return RopeLinear{require_number(source, "factor")};
  }
  if (*type == "dynamic") {
    return read_dynamic(source);
  }
  if (*type == "yarn") {
    return read_yarn(source);
  }
  if (*type == "llama3") {
    return read_llama3(source);
  }
  if (*type == "longrope" || *type == "su") {  // "su" in the first files of Phi-3
    return read_longrope(source);
  }
  throw FormatError(source.rope_where + ": field '" + key + "': type " + base::quote(*type) +
                    " is not supported; allowed are default, linear, dynamic, yarn, llama3 and "
                    "longrope");
}

std::optional<int64_t> find_head_dim(const Json& config, const std::string& where) {
  for (const char* key : {"qk_rope_head_dim", "head_dim"}) {
    if (const auto size = find_count(config, key, where)) {
      return size;
    }
  }
  const auto width = find_count(config, "hidden_size", where);
  const auto heads = find_count(config, "num_attention_heads", where);
  return width && heads ? std::optional(*width / *heads) : std::nullopt;
}

std::optional<RopePairing> read_pairing(const Json& config, const std::string& where) {
  if (const std::optional<std::string> name = find_string(config, "rope_pairing", where)) {
    if (const std::optional<RopePairing> pairing = find_rope_pairing(*name)) {
      return pairing;
    }
    throw FormatError(where + ": field 'rope_pairing': " + base::quote(*name) +
                      "; allowed are half and interleaved");
  }
  if (const std::optional<bool> interleaved = find_bool(config, "rope_interleave", where)) {
    return *interleaved ? RopePairing::kInterleaved : RopePairing::kHalf;
  }
  return std::nullopt;
}

// One base of frequencies for all layers, or for the layers of this file.
void check_local_theta(const RopeSource& source) {
  const Json* local = find_field(source.config, "rope_local_base_freq");
  if (local != nullptr && only_layer_type(source.config, source.where) !=
                              std::optional<std::string>("full_attention")) {
    throw FormatError(source.where +
                      ": field 'rope_local_base_freq': " + base::quote(base::to_text(*local)) +
                      "; RoPE differs by layer, so keep the theta and the scaling of one");
  }
}

struct ScalingJson {
  Json operator()(const RopeUnscaled&) const { return Json::object(); }
  Json operator()(const RopeLinear& s) const { return {{"factor", s.factor}}; }
  Json operator()(const RopeDynamic& s) const {
    return {{"factor", s.factor}, {"max_position_embeddings", s.max_positions}};
  }
  Json operator()(const RopeYarn& s) const {
    Json json{{"factor", s.factor},
              {"original_max_position_embeddings", s.original_positions},
              {"beta_fast", s.beta_fast},
              {"beta_slow", s.beta_slow},
              {"truncate", s.truncate}};
    add(json, "attention_factor", s.attention_factor);
    add(json, "mscale", s.mscale);
    add(json, "mscale_all_dim", s.mscale_all_dim);
    return json;
  }
  Json operator()(const RopeLlama3& s) const {
    return {{"factor", s.factor},
            {"low_freq_factor", s.low_freq_factor},
            {"high_freq_factor", s.high_freq_factor},
            {"original_max_position_embeddings", s.original_positions}};
  }
  Json operator()(const RopeLongrope& s) const {
    Json json{{"short_factor", s.short_factor},
              {"long_factor", s.long_factor},
              {"factor", s.factor},
              {"original_max_position_embeddings", s.original_positions}};
    add(json, "attention_factor", s.attention_factor);
    return json;
  }

  static void add(Json& json, const char* key, const std::optional<double>& value) {
    if (value) {
      json[key] = *value;
    }
  }
};

}  // namespace

RopeConfig parse_rope_config(const Json& config, const std::string& where) {
  const RopeSource source = find_source(config, where);
  const bool any = !source.rope.empty() || find_field(config, "rope_theta") != nullptr ||
                   find_field(config, "partial_rotary_factor") != nullptr ||
                   find_field(config, "num_attention_heads") != nullptr;
  if (!any) {
    throw FormatError(where +
                      ": neither a model's config.json nor a rope_scaling with a 'rope_type'");
  }
  refuse_other_keys(source.config, source.where);
  refuse_other_keys(source.rope, source.rope_where);
  check_local_theta(source);
  RopeConfig made;
  made.where = where;
  made.scaling = read_scaling(source);
  try {
    check_rope_scaling(made.scaling);
  } catch (const FormatError& error) {
    throw FormatError(source.rope_where + ": " + error.what());
  }
  const auto find_either = [&](const char* key) {
    const auto own = find_positive(source.rope, key, source.rope_where);
    return own ? own : find_positive(source.config, key, source.where);
  };
  made.theta = find_either("rope_theta");
  made.partial_rotary_factor = find_either("partial_rotary_factor");
  if (made.partial_rotary_factor.value_or(1) > 1) {
    throw FormatError(where + ": field 'partial_rotary_factor': " +
                      base::number_text(*made.partial_rotary_factor) +
                      "; allowed are numbers up to 1");
  }
  made.head_dim = find_head_dim(config, where);
  made.pairing = read_pairing(config, where);
  return made;
}

RopeConfig read_rope_config(const std::string& path) {
  const ConfigFile file = read_config_file(path);
  return parse_rope_config(file.json, file.where);
}

void check_head_dim(const RopeConfig& config, int64_t head_dim) {
  if (config.head_dim && *config.head_dim != head_dim) {
    throw FormatError(config.where + ": rotates heads of " + std::to_string(*config.head_dim) +
                      " elements; these have " + std::to_string(head_dim));
  }
}

int64_t rotary_size(const RopeConfig& config, int64_t head_dim) {
  check_head_dim(config, head_dim);
  const double part = config.partial_rotary_factor.value_or(1);
  const int64_t size =
      part == 1 ? head_dim : static_cast<int64_t>(static_cast<double>(head_dim) * part);
  if (size < 2 || size % 2 != 0) {
    throw FormatError(config.where + ": rotates " + std::to_string(size) + " of " +
                      std::to_string(head_dim) + " elements of a head (partial_rotary_factor " +
                      base::number_text(part) + "); needed is an even number from 2");
  }
  return size;
}

void check_rope_fits(const RopeConfig& config, double theta, int64_t rope_dim) {
  try {
    rope_frequencies(config.scaling, theta, rope_dim, 0);
  } catch (const FormatError& error) {
    throw FormatError(config.where + ": " + error.what());
  }
}

std::string rope_scaling_json(const RopeScaling& scaling) {
  Json json{{"rope_type", std::string(rope_scaling_name(scaling))}};
  json.update(std::visit(ScalingJson{}, scaling));
  return base::to_text(json);
}

std::optional<RopePairing> find_rope_pairing(std::string_view name) {
  for (const RopePairing pairing : {RopePairing::kHalf, RopePairing::kInterleaved}) {
    if (name == rope_pairing_name(pairing)) {
      return pairing;
    }
  }
  return std::nullopt;
}

}  // namespace netcl::nn
