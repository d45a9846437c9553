// SPDX-License-Identifier: Apache-2.0
// Base64 with padding (RFC 4648, section 4).
#ifndef NETCL_TEXT_BASE64_H_
#define NETCL_TEXT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace netcl::text {

std::string to_base64(std::string_view bytes);

// Nothing when the text is not exactly the base64 form of some bytes: foreign characters, missing
// padding, bits set that no byte uses.
std::optional<std::string> from_base64(std::string_view text);
// The same, appended to `bytes`; false in place of nothing, and then part of it may be there.
bool append_base64(std::string_view text, std::string& bytes);

}  // namespace netcl::text

#endif  // NETCL_TEXT_BASE64_H_
