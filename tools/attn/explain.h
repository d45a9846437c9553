// SPDX-License-Identifier: Apache-2.0
// The chapter's steps of attention for a small input, as text.
#ifndef NETCL_TOOLS_ATTN_EXPLAIN_H_
#define NETCL_TOOLS_ATTN_EXPLAIN_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace netcl::attn {

constexpr int64_t kExplainMaxTokens = 16;  // q_len and kv_len
constexpr int64_t kExplainMaxDim = 16;     // v_head_dim
constexpr int64_t kExplainMaxParts = 16;   // batch * heads

// One head of one batch item; matrices are row-major [q_len, kv_len], y is [q_len, v_head_dim].
struct ExplainPart {
  int64_t batch = 0, head = 0;
  std::vector<double> raw;      // q.k
  std::vector<double> scaled;   // scale * q.k
  std::vector<double> softcap;  // empty: no softcap
  std::vector<double> masked;   // after ALiBi; -inf where not visible
  std::vector<double> weights;
  std::vector<double> v;  // [kv_len, v_head_dim]
  std::vector<double> y;
  double sink = -std::numeric_limits<double>::infinity();  // -inf: none
};

struct Explanation {
  int64_t batch = 0, heads = 0, q_len = 0, kv_len = 0, head_dim = 0, v_head_dim = 0;
  double scale = 1;
  bool default_scale = true;  // 1 / sqrt(head_dim)
  double softcap = 0;
  std::string rotation;  // RoPE of q and k, done before; empty: none
  bool alibi = false;
  std::string mask;  // what hides keys ("causal, bottom-right"); empty: nothing does
  std::vector<ExplainPart> parts;
};

// Throws UsageError when the steps would not fit a page.
void check_explain_size(int64_t batch, int64_t heads, int64_t q_len, int64_t kv_len,
                        int64_t v_head_dim);

// Scores are shown with at most three decimals, weights with three, the output with two (four when
// all of it is below 1). The sums of exponentials are taken of the scores as they are, or less the
// row's maximum when that lies outside -20 to 20.
std::string explain(const Explanation& explanation);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_EXPLAIN_H_
