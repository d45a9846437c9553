// SPDX-License-Identifier: Apache-2.0
// Finds, for every place of a text, the longest of many strings that begins there. It is the
// automaton of Aho and Corasick ("Efficient string matching", CACM 18(6), 1975) over the strings
// read backwards: a text read from its end to its start is, at each place, in the state of the
// longest part from there on that ends some string, and the longest string that begins there is a
// property of the state. Time is linear in the text, whatever the strings and the text are.
#ifndef NETCL_TEXT_TOKEN_AUTOMATON_H_
#define NETCL_TEXT_TOKEN_AUTOMATON_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text {

// Immutable; safe to use from several threads.
class TokenAutomaton {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // A string that begins at `at`.
  struct Hit {
    uint32_t at = 0;
    uint32_t token = 0;
  };

  TokenAutomaton() = default;
  // An empty string is never found; of two equal strings the first counts. Cost: a sort of the
  // strings and about 14 bytes for every byte of them.
  explicit TokenAutomaton(const std::vector<std::string>& tokens);

  bool empty() const { return longest_ == 0; }
  // Length of the longest string.
  size_t longest() const { return longest_; }

  // Sets `hits` to the longest string at each place of text[begin, end) where one begins (it may
  // end after `end`), by descending place, counted from `begin`. end - begin is below 2^32. Reads
  // up to longest() bytes past `end`. Bytes that end no string are skipped several at a time while
  // nothing is being matched.
  void find(std::string_view text, size_t begin, size_t end, std::vector<Hit>& hits) const;

 private:
  void build_trie(const std::vector<std::string>& tokens);
  void link();
  uint32_t child(uint32_t node, uint8_t byte) const;
  uint32_t step(uint32_t node, uint8_t byte) const;
  size_t skip_back(std::string_view text, size_t from, size_t to) const;

  // Nodes by depth; the children of a node are neighbours and follow those of the node before.
  std::vector<uint32_t> first_child_;  // by node, and one more: where its children begin
  std::vector<uint8_t> labels_;        // by node: the byte that leads to it
  std::vector<uint32_t> fallback_;     // by node: longest proper suffix (as read) that is a node
  std::vector<uint32_t> tokens_;  // by node: longest string that ends (as read) there, or kNone
  std::array<uint32_t, 256> from_root_{};  // 0: no child
  std::array<uint8_t, 4> last_bytes_{};    // last bytes of the strings, if there are at most four
  bool few_last_bytes_ = false;
  size_t longest_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKEN_AUTOMATON_H_
