// SPDX-License-Identifier: Apache-2.0
// Where a long text may be cut so that several threads can split it, or so that it need not be in
// memory as a whole.
#ifndef NETCL_TEXT_DOCUMENT_CUT_H_
#define NETCL_TEXT_DOCUMENT_CUT_H_

#include <cstddef>
#include <string_view>

#include "text/added_tokens.h"
#include "text/normal_form.h"

namespace netcl::text {

// First place at or after `from` where every known pattern (splitter_names()) makes the same pieces
// of the two parts as of the whole; text.size() when there is none. There are two kinds:
//   - between a letter or number and ASCII white space. No pattern has a piece that goes on from
//   one
//     to the other, so a piece ends there, and it ends there at the end of the text too;
//   - between a line feed and a letter, with a character that is no white space before the line
//     feed. A piece ends there as well; of white space that is one line feed, \s+(?!\S), which
//     alone looks beyond its piece, takes that one, at the end of the text as before a letter.
// To the right no pattern looks back. With a normal form these also are places where the two parts
// are normalized as in the whole: the characters there are plain in it (NormalForm::is_plain), so
// they come out as they are; only a letter behind a line feed may become another one. Text without
// such a place is rare (a file of one line without a blank, or of nothing but white space). Time:
// linear in the bytes passed over.
size_t find_safe_cut(std::string_view text, size_t from, const NormalForm* form = nullptr);

// Whether a text with this string in it may be cut within the string.
bool may_lie_across_cuts(std::string_view content);

// Whether an added token may be found in a text and not, or otherwise, in its two parts: it lies
// across a cut, eats white space across one, or looks at the character on the other side.
bool may_depend_on_cuts(const AddedToken& token);

}  // namespace netcl::text

#endif  // NETCL_TEXT_DOCUMENT_CUT_H_
