// SPDX-License-Identifier: Apache-2.0
// Published vocabularies whose .tiktoken files carry neither split pattern nor special tokens.
#ifndef NETCL_TEXT_KNOWN_MODELS_H_
#define NETCL_TEXT_KNOWN_MODELS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace netcl::text {

struct KnownModel {
  std::string_view name;
  std::string_view splitter;                               // for make_named_splitter
  std::vector<std::pair<std::string, uint32_t>> specials;  // several names may share an id
};

// The model with this name; "cl100k_base" and the like are read as "cl100k". Throws UsageError
// naming the known ones when there is none.
KnownModel get_known_model(std::string_view name);

}  // namespace netcl::text

#endif  // NETCL_TEXT_KNOWN_MODELS_H_
