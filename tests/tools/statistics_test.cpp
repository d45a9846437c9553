// SPDX-License-Identifier: Apache-2.0
#include "attn/statistics.h"

#include <vector>

#include "support/catch.h"

using namespace netcl::attn;

TEST_CASE("statistics: the median of an even number of times is the mean of the middle two") {
  CHECK(summarize({4, 1, 3}).median == 3);
  CHECK(summarize({4, 1, 3, 2}).median == 2.5);
  const TimeSummary summary = summarize({5, 1, 9});
  CHECK(summary.min == 1);
  CHECK(summary.max == 9);
  CHECK(summary.count == 3);
  CHECK(summarize({}).count == 0);
}

TEST_CASE("statistics: a time of zero gives no rate") {
  CHECK_FALSE(giga_per_second(1e9, 0).has_value());
  CHECK(giga_per_second(2e9, 1000) == 2.0);
}

TEST_CASE("statistics: causal work counts the visible pairs") {
  for (const int64_t q : {1, 2, 5, 9}) {
    for (const int64_t k : {1, 3, 5, 12}) {
      AttentionShape shape;
      shape.batch = 3;
      shape.heads = 4;
      shape.kv_heads = 2;
      shape.q_len = q;
      shape.kv_len = k;
      shape.head_dim = 8;
      shape.v_head_dim = 6;
      CHECK(attention_work(shape).flops == static_cast<double>(2 * 3 * 4 * q * k * (8 + 6)));
      int64_t pairs = 0;
      for (int64_t i = 0; i < q; ++i) {
        for (int64_t j = 0; j < k; ++j) {
          pairs += j <= i + k - q ? 1 : 0;
        }
      }
      shape.causal = true;
      CHECK(attention_work(shape).flops == static_cast<double>(2 * 3 * 4 * pairs * (8 + 6)));
    }
  }
}
