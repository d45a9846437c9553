// SPDX-License-Identifier: Apache-2.0
#include "text/joined_tokens.h"

#include <utility>

namespace netcl::text {

namespace {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr uint64_t kBase = 0x0B5A4C1D7E9F8361 % kPrime;

uint64_t multiply(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  const uint64_t sum =
      static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

uint64_t add_up(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

}  // namespace

void JoinedTokens::remember(const Token& token) {
  of_hash_.emplace(token.hash, size());
  tokens_.push_back(token);
  total_bytes_ += token.length;
}

void JoinedTokens::add(std::string bytes) {
  Token token;
  token.length = bytes.size();
  token.power = 1;
  for (const char byte : bytes) {
    token.hash = add_up(multiply(token.hash, kBase), static_cast<uint8_t>(byte) + uint64_t{1});
    token.power = multiply(token.power, kBase);
  }
  token.right = static_cast<uint32_t>(strings_.size());
  strings_.push_back(std::move(bytes));
  remember(token);
}

JoinedTokens::Joined JoinedTokens::join(uint32_t left, uint32_t right) {
  const Token& first = tokens_[left];
  const Token& second = tokens_[right];
  Token token;
  token.length = first.length + second.length;
  token.hash = add_up(multiply(first.hash, second.power), second.hash);
  token.power = multiply(first.power, second.power);
  token.left = left;
  token.right = right;
  const auto [begin, end] = of_hash_.equal_range(token.hash);
  for (auto same = begin; same != end; ++same) {
    const uint32_t index = same->second;
    if (tokens_[index].length == token.length && bytes(index) == bytes(left) + bytes(right)) {
      return {index, false};
    }
  }
  remember(token);
  return {size() - 1, true};
}

std::string JoinedTokens::bytes(uint32_t index) const {
  std::string result;
  result.reserve(tokens_[index].length);
  std::vector<uint32_t> rest = {index};
  while (!rest.empty()) {
    const Token& token = tokens_[rest.back()];
    rest.pop_back();
    if (token.left == kNoPart) {
      result += strings_[token.right];
    } else {
      rest.push_back(token.right);
      rest.push_back(token.left);
    }
  }
  return result;
}

std::vector<std::string> JoinedTokens::all_bytes() const {
  std::vector<std::string> all;
  all.reserve(tokens_.size());
  for (const Token& token : tokens_) {
    all.push_back(token.left == kNoPart ? strings_[token.right]
                                        : all[token.left] + all[token.right]);
  }
  return all;
}

}  // namespace netcl::text
