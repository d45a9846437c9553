// SPDX-License-Identifier: Apache-2.0
#include "text/substring_set.h"

#include <algorithm>

#include "base/error.h"

namespace netcl::text {

SubstringSet::SubstringSet(const std::vector<std::string_view>& strings) {
  for (const std::string_view string : strings) {
    NETCL_CHECK(string.size() >= kShortest);
    const uint32_t head = head_of(string.data());
    heads_[bit_of(head) / 64] |= uint64_t{1} << (bit_of(head) % 64);
    by_head_[head].push_back(string);
  }
}

bool SubstringSet::occurs_in(std::string_view text) const {
  if (empty()) {
    return false;
  }
  for (size_t at = 0; at + kShortest <= text.size(); ++at) {
    const uint32_t head = head_of(text.data() + at);
    if ((heads_[bit_of(head) / 64] >> (bit_of(head) % 64) & 1) == 0) {
      continue;
    }
    const auto found = by_head_.find(head);
    if (found != by_head_.end() &&
        std::any_of(found->second.begin(), found->second.end(),
                    [&](std::string_view string) { return text.substr(at).starts_with(string); })) {
      return true;
    }
  }
  return false;
}

}  // namespace netcl::text
