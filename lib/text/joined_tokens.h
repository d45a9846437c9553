// SPDX-License-Identifier: Apache-2.0
// Tokens that are made by joining two earlier ones, told apart by their bytes without storing them:
// those of "aaaa..." double in length with every merge.
#ifndef NETCL_TEXT_JOINED_TOKENS_H_
#define NETCL_TEXT_JOINED_TOKENS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace netcl::text {

// Numbered from 0 in the order in which they are added. A token is known by length and a hash that
// is computed from those of its parts (a polynomial modulo the prime 2^61 - 1); where both are
// equal the bytes decide.
class JoinedTokens {
 public:
  // Adds a string that no other call adds.
  void add(std::string bytes);

  // Number of the token that is left and right joined, which is added if it is not there.
  struct Joined {
    uint32_t index = 0;
    bool is_new = false;
  };
  Joined join(uint32_t left, uint32_t right);

  uint32_t size() const { return static_cast<uint32_t>(tokens_.size()); }
  uint64_t byte_length(uint32_t index) const { return tokens_[index].length; }

  // Of all tokens together.
  uint64_t total_bytes() const { return total_bytes_; }

  // The bytes of one token, and of all. Time and memory: their length.
  std::string bytes(uint32_t index) const;
  std::vector<std::string> all_bytes() const;

 private:
  static constexpr uint32_t kNoPart = UINT32_MAX;
  struct Token {
    uint64_t length = 0;
    uint64_t hash = 0;
    uint64_t power = 0;  // of the polynomial's base, for what stands left of it
    uint32_t left = kNoPart;
    uint32_t right = 0;  // without parts: index in strings_
  };

  void remember(const Token& token);

  std::vector<Token> tokens_;
  uint64_t total_bytes_ = 0;
  std::vector<std::string> strings_;  // of those that were added whole
  std::unordered_multimap<uint64_t, uint32_t> of_hash_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_JOINED_TOKENS_H_
