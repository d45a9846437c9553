// SPDX-License-Identifier: Apache-2.0
#include "nn/config_fields.h"

#include <cmath>

#include "base/error.h"
#include "base/file.h"

namespace netcl::nn {

using base::FormatError;
using base::Json;

const Json* find_field(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<int64_t> find_count(const Json& object, const char* key, const std::string& where) {
  if (find_field(object, key) == nullptr) {
    return std::nullopt;
  }
  const int64_t value = base::require_int(object, key, where);
  if (value < 1) {
    throw FormatError(where + ": field '" + key + "': " + std::to_string(value) +
                      "; allowed are numbers from 1");
  }
  return value;
}

std::optional<double> find_number(const Json& object, const char* key, const std::string& where) {
  const Json* field = find_field(object, key);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (!field->is_number() || !std::isfinite(field->get<double>())) {
    throw FormatError(where + ": field '" + key + "': " + base::quote(base::to_text(*field)) +
                      "; allowed are numbers");
  }
  return field->get<double>();
}

std::optional<double> find_positive(const Json& object, const char* key, const std::string& where) {
  const Json* field = find_field(object, key);
  if (field == nullptr) {
    return std::nullopt;
  }
  const double value = field->is_number() ? field->get<double>() : 0;
  if (!(value > 0) || !std::isfinite(value)) {
    throw FormatError(where + ": field '" + key + "': " + base::quote(base::to_text(*field)) +
                      "; allowed are numbers above 0");
  }
  return value;
}

std::optional<bool> find_bool(const Json& object, const char* key, const std::string& where) {
  if (find_field(object, key) == nullptr) {
    return std::nullopt;
  }
  return base::require_bool(object, key, where);
}

std::optional<std::string> find_string(const Json& object, const char* key,
                                       const std::string& where) {
  if (find_field(object, key) == nullptr) {
    return std::nullopt;
  }
  return base::require_string(object, key, where);
}

std::optional<std::string> only_layer_type(const Json& config, const std::string& where) {
  const Json* types = find_field(config, "layer_types");
  if (types == nullptr) {
    return std::nullopt;
  }
  if (!types->is_array() || types->empty() || !types->front().is_string()) {
    throw FormatError(where + ": field 'layer_types': " + base::quote(base::to_text(*types)) +
                      "; needed is a list of texts");
  }
  for (const Json& type : *types) {
    if (type != types->front()) {
      return std::nullopt;
    }
  }
  return types->front().get<std::string>();
}

ConfigFile read_config_file(const std::string& path) {
  const base::FileBytes file = base::FileBytes::open(path);
  ConfigFile config{base::parse_json(file.view(), file.path()), file.path()};
  if (!config.json.is_object()) {
    throw FormatError(config.where + ": is no JSON object; needed is a model's config.json");
  }
  return config;
}

}  // namespace netcl::nn
