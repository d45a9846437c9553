// SPDX-License-Identifier: Apache-2.0
// ALiBi's usual slopes.
#ifndef NETCL_NN_ALIBI_H_
#define NETCL_NN_ALIBI_H_

#include <cstdint>
#include <vector>

namespace netcl::nn {

// For AttentionInputs::alibi_slopes. Head h = 1 .. n gets 2^(-8h/n) when n is a power of two. Else
// the first p heads, p the largest power of two below n, get the slopes of p heads, and the others
// every second slope of 2p heads, from the first on. heads >= 1 (NETCL_CHECK).
// Source: Press, Smith, Lewis: Train Short, Test Long (2022), and its published code.
std::vector<float> default_alibi_slopes(int64_t heads);

}  // namespace netcl::nn

#endif  // NETCL_NN_ALIBI_H_
