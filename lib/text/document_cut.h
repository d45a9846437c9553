// SPDX-License-Identifier: Apache-2.0
// Where a long text may be cut so that several threads can split it.
#ifndef NETCL_TEXT_DOCUMENT_CUT_H_
#define NETCL_TEXT_DOCUMENT_CUT_H_

#include <cstddef>
#include <string_view>

namespace netcl::text {

// First place at or after `from` where every known pattern (splitter_names()) makes the same pieces
// of the two parts as of the whole; text.size() when there is none. Such a place lies between a
// line feed and a letter, with a character that is no white space before the line feed:
//   - no pattern has a piece that goes on from a line feed to a letter, so a piece ends there;
//   - to the left, only \s+(?!\S) looks beyond its piece, and of white space that is one line feed
//     it takes that one, at the end of the text as before a letter;
//   - to the right, no pattern looks back.
// A match of a string that has no line feed before its last byte does not cross the place either.
// Time: linear in the bytes passed over.
size_t find_safe_cut(std::string_view text, size_t from);

}  // namespace netcl::text

#endif  // NETCL_TEXT_DOCUMENT_CUT_H_
