// SPDX-License-Identifier: Apache-2.0
// Fields of a model's config.json: absent and null mean the same, and a wrong type or value is a
// FormatError "where: field 'key': ...".
#ifndef NETCL_NN_CONFIG_FIELDS_H_
#define NETCL_NN_CONFIG_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_file.h"

namespace netcl::nn {

// Null when the field is absent or null.
const base::Json* find_field(const base::Json& object, const char* key);

// An integer from 1.
std::optional<int64_t> find_count(const base::Json& object, const char* key,
                                  const std::string& where);
// A finite number.
std::optional<double> find_number(const base::Json& object, const char* key,
                                  const std::string& where);
// A finite number above 0.
std::optional<double> find_positive(const base::Json& object, const char* key,
                                    const std::string& where);
std::optional<bool> find_bool(const base::Json& object, const char* key, const std::string& where);
std::optional<std::string> find_string(const base::Json& object, const char* key,
                                       const std::string& where);

// The entry that all of `layer_types` are; nothing without that list or when they differ.
std::optional<std::string> only_layer_type(const base::Json& config, const std::string& where);

struct ConfigFile {
  base::Json json;  // an object
  std::string where;
};
// Throws IoError, FormatError for what is no JSON object.
ConfigFile read_config_file(const std::string& path);

}  // namespace netcl::nn

#endif  // NETCL_NN_CONFIG_FIELDS_H_
