// SPDX-License-Identifier: Apache-2.0
// Added tokens: texts that become one id each before anything else looks at them. Special tokens
// are the ones a model uses as marks. Matching follows Hugging Face `tokenizers`.
#ifndef NETCL_TEXT_ADDED_TOKENS_H_
#define NETCL_TEXT_ADDED_TOKENS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_span.h"
#include "text/token_automaton.h"

namespace netcl::text {

struct AddedToken {
  std::string content;  // UTF-8, not empty
  uint32_t id = 0;
  bool special = true;
  bool single_word = false;  // only where no word character (\w) stands on either side
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // takes the white space after it along
  bool normalized = false;   // looked for after the normalizer has run, in its normalized form
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

// One added token in a text. [begin, end) includes the white space it took; the token's own text
// starts at content_begin.
struct AddedMatch {
  size_t begin = 0;
  size_t end = 0;
  size_t content_begin = 0;
  uint32_t token = 0;  // index into the list that the matcher was made from
};

// Finds tokens in a text: leftmost first, at one place the longest, without overlap. Immutable and
// safe to use from several threads. Time is linear in the text, whatever the tokens; extra memory
// does not grow with the text but for the matches.
class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  // tokens[i] is looked for as contents[i] (its content, or the normalized form of it); an empty
  // string is never found. Of two equal strings the first counts. Keeps copies of the flags.
  AddedTokenMatcher(const std::vector<AddedToken>& tokens,
                    const std::vector<std::string>& contents);

  bool empty() const { return automaton_.empty(); }

  // Appends the matches in `text` in order. ignored[i] (no entry = false) leaves token i
  // unrecognised: what it covers is passed over, so no shorter token is found inside it.
  void find(std::string_view text, const std::vector<bool>& ignored,
            std::vector<AddedMatch>& matches) const;
  // The same for tokens whose own text lies within one of `places` (ascending, apart), as if what
  // is outside of them were no token's text; white space and words around a token still count.
  void find(std::string_view text, const std::vector<bool>& ignored,
            std::span<const ByteSpan> places, std::vector<AddedMatch>& matches) const;

  // Bytes of what is looked for as token `token`.
  size_t length(uint32_t token) const { return lengths_[token]; }

 private:
  class Selection;

  TokenAutomaton automaton_;
  std::vector<size_t> lengths_;  // by token: bytes of what is looked for
  std::vector<AddedToken> tokens_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_ADDED_TOKENS_H_
