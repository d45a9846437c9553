// SPDX-License-Identifier: Apache-2.0
#include "text/special_names.h"

#include <algorithm>

#include "text/byte_level.h"

namespace netcl::text {

namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether corpora that lose the text of all special tokens never hold `bytes`. A prefix space comes
// after the cut: it may stand for the first byte of a special token that begins with one.
bool are_cut_out(std::string_view bytes, const TrainerOptions& options) {
  if (options.add_prefix_space && bytes.starts_with(' ')) {
    bytes.remove_prefix(1);
  }
  return std::any_of(
      options.specials.begin(), options.specials.end(),
      [&](const std::string& special) { return bytes.find(special) != std::string_view::npos; });
}

bool may_be_learned(std::string_view bytes, const TrainerOptions& options) {
  const bool is_pattern_known = options.pattern_regex.empty() && options.pattern != "none";
  return (options.max_token_length == 0 || bytes.size() <= options.max_token_length) &&
         !are_cut_out(bytes, options) && !(is_pattern_known && are_always_split(bytes));
}

}  // namespace

bool are_always_split(std::string_view bytes) {
  for (size_t i = 1; i < bytes.size(); ++i) {
    const bool is_border = is_letter_or_digit(bytes[i - 1]) && !is_letter_or_digit(bytes[i]) &&
                           bytes[i] != '\'' && static_cast<unsigned char>(bytes[i]) < 0x80;
    if (is_border) {
      return true;
    }
  }
  return false;
}

std::optional<AmbiguousSpecial> find_ambiguous_special(const TrainerOptions& options) {
  for (const std::string& name : options.specials) {
    std::optional<std::string> bytes = from_printable(name);
    if (bytes && may_be_learned(*bytes, options)) {
      return AmbiguousSpecial{name, std::move(*bytes)};
    }
  }
  return std::nullopt;
}

}  // namespace netcl::text
