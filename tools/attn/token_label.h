// SPDX-License-Identifier: Apache-2.0
// Token texts as people can read them in a picture: blanks, control characters and broken UTF-8
// made visible.
#ifndef NETCL_TOOLS_ATTN_TOKEN_LABEL_H_
#define NETCL_TOOLS_ATTN_TOKEN_LABEL_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::attn {

// Readable UTF-8 form of a token's bytes: a space becomes an open box, line feed and tab their
// arrows, other control characters and bytes that are not UTF-8 "<0D>", characters that show
// nothing, reorder others or have no agreed shape "<U+200B>". An empty
// token is shown as the empty-set sign. Never holds a control character.
std::string visible_text(std::string_view token);

// The same for running text: single spaces stay.
std::string clean_text(std::string_view text);

// Width of visible_text() in columns of a monospaced font; wide characters (East Asian, emoji)
// count two, every other one.
size_t column_width(std::string_view utf8);

// `utf8` cut after at most `max_columns` columns, the last of them an ellipsis when it was cut.
std::string shortened(std::string_view utf8, size_t max_columns);

// &, <, > and quotes as XML entities.
std::string escape_xml(std::string_view text);

// Token texts of a file as `bpe-encode --pieces` writes it, as text or JSONL. A line holds one
// token (its id and a tab may stand before it), or a list of tokens (a JSON array, or the array
// "pieces" of an object). A token is a JSON string, or {"hex": "e282"} for bytes that are not
// UTF-8. Throws FormatError naming the line.
std::vector<std::string> read_labels(const std::string& path);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_TOKEN_LABEL_H_
