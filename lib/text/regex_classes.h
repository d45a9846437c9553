// SPDX-License-Identifier: Apache-2.0
// The named character classes of regular expressions as code point sets.
#ifndef NETCL_TEXT_REGEX_CLASSES_H_
#define NETCL_TEXT_REGEX_CLASSES_H_

#include <optional>
#include <string_view>

#include "text/code_point_set.h"
#include "text/pattern_translator.h"

namespace netcl::text {

// Set of \p{name} without the negating ^. Case, spaces, '_' and '-' in the name do not matter.
// Nothing when the tables do not have the property.
std::optional<CodePointSet> find_property(std::string_view name, RegexDialect dialect);

// Set of [:name:] without the negating ^. Nothing when the name is unknown or, for Oniguruma, its
// Unicode meaning is not in the tables.
std::optional<CodePointSet> find_posix_bracket(std::string_view name, RegexDialect dialect);

// Set of \d \s \w \h for the lower-case letter; the upper-case one gives the complement. Nothing
// for other letters.
std::optional<CodePointSet> find_escape_class(char letter, RegexDialect dialect);

}  // namespace netcl::text

#endif  // NETCL_TEXT_REGEX_CLASSES_H_
