// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_problem.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/alibi.h"
#include "support/catch.h"

namespace netcl::nn {

namespace {

using Catch::Matchers::Contains;
using core::DType;
using core::Shape;

AttentionShapes shapes(const Shape& q, const Shape& k, const Shape& v) {
  AttentionShapes s;
  s.q = q;
  s.k = k;
  s.v = v;
  return s;
}

AttentionProblem make(const AttentionShapes& s, const AttentionOptions& options = {},
                      const std::vector<int64_t>& kv_lens = {}) {
  return make_attention_problem(s, options, kv_lens);
}

}  // namespace

TEST_CASE("attention problem: every layout gives the strides of its order of axes") {
  AttentionOptions options;
  const AttentionProblem a = make(shapes({2, 6, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 4}));
  CHECK(a.batch == 2);
  CHECK(a.heads == 6);
  CHECK(a.kv_heads == 3);
  CHECK(a.q_len == 5);
  CHECK(a.kv_len == 7);
  CHECK(a.head_dim == 8);
  CHECK(a.v_head_dim == 4);
  CHECK(a.scale == 1 / std::sqrt(8.0));
  CHECK(a.q.at(1, 2, 3) == ((1 * 6 + 2) * 5 + 3) * 8);
  CHECK(a.v.at(1, 2, 3) == ((1 * 3 + 2) * 7 + 3) * 4);
  CHECK(a.y.at(1, 2, 3) == ((1 * 6 + 2) * 5 + 3) * 4);
  CHECK(a.y_shape == Shape{2, 6, 5, 4});
  CHECK(a.sequences[1].k_end == 7);
  CHECK(a.kv_head_of(0) == 0);
  CHECK(a.kv_head_of(1) == 0);
  CHECK(a.kv_head_of(5) == 2);

  options.layout = Layout::kBshd;
  const AttentionProblem b = make(shapes({2, 5, 6, 8}, {2, 7, 3, 8}, {2, 7, 3, 4}), options);
  CHECK(b.heads == 6);
  CHECK(b.q_len == 5);
  CHECK(b.k.at(1, 2, 3) == ((1 * 7 + 3) * 3 + 2) * 8);
  CHECK(b.y.at(1, 2, 3) == ((1 * 5 + 3) * 6 + 2) * 4);
  CHECK(b.y_shape == Shape{2, 5, 6, 4});

  options.layout = Layout::kPacked;
  options.heads = 6;
  options.kv_heads = 3;
  const AttentionProblem c = make(shapes({2, 5, 48}, {2, 7, 24}, {2, 7, 12}), options);
  CHECK(c.head_dim == 8);
  CHECK(c.v_head_dim == 4);
  CHECK(c.q.at(1, 2, 3) == (1 * 5 + 3) * 48 + 2 * 8);
  CHECK(c.y_shape == Shape{2, 5, 24});
}

TEST_CASE("attention problem: missing axes are 1") {
  const AttentionProblem a = make(shapes({4, 5, 8}, {2, 7, 8}, {2, 7, 8}));
  CHECK(a.batch == 1);
  CHECK(a.heads == 4);
  CHECK(a.kv_heads == 2);
  CHECK(a.y_shape == Shape{4, 5, 8});
  const AttentionProblem b = make(shapes({5, 8}, {7, 8}, {7, 3}));
  CHECK(b.heads == 1);
  CHECK(b.q_len == 5);
  CHECK(b.y_shape == Shape{5, 3});
}

TEST_CASE("attention problem: a disagreement names both shapes and both values") {
  const auto fails = [](const AttentionShapes& s, const std::string& words,
                        const AttentionOptions& options = {},
                        const std::vector<int64_t>& kv_lens = {}) {
    CHECK_THROWS_AS(make(s, options, kv_lens), base::FormatError);
    CHECK_THROWS_WITH(make(s, options, kv_lens), Contains(words));
  };
  fails(shapes({1, 2, 3, 8}, {1, 2, 3, 7}, {1, 2, 3, 7}),
        "q [1, 2, 3, 8] and k [1, 2, 3, 7] disagree: head_dim 8 and 7");
  fails(shapes({2, 2, 3, 8}, {1, 2, 3, 8}, {1, 2, 3, 8}), "batch 2 and 1");
  fails(shapes({1, 5, 3, 8}, {1, 2, 3, 8}, {1, 2, 3, 8}), "5 heads, not a multiple of the 2");
  fails(shapes({1, 2, 3, 8}, {1, 2, 3, 8}, {1, 1, 3, 8}), "kv_heads 2 and 1");
  fails(shapes({1, 2, 3, 8}, {1, 2, 3, 8}, {1, 2, 4, 8}), "kv_len 3 and 4");
  fails(shapes({1, 2, 3, 8}, {2, 3, 8}, {2, 3, 8}), "rank 4 and 3");
  fails(shapes({8}, {8}, {8}), "q has shape [8]");
  fails(shapes({1, 2, 3, 0}, {1, 2, 3, 0}, {1, 2, 3, 8}), "2 heads of size 0");
  fails(shapes({1, 0, 3, 8}, {1, 0, 3, 8}, {1, 0, 3, 8}), "0 heads of size 8");
  AttentionOptions packed;
  packed.layout = Layout::kPacked;
  packed.heads = 3;
  packed.kv_heads = 3;
  fails(shapes({1, 4, 8}, {1, 4, 9}, {1, 4, 9}), "head_dim 8 and 9");
  fails(shapes({1, 4, 8}, {1, 4, 9}, {1, 4, 9}), "head_dim");
  fails(shapes({1, 4, 8}, {1, 4, 9}, {1, 4, 9}), "last axis 8 is not a multiple of its 3 heads",
        packed);
  const AttentionShapes two = shapes({2, 2, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 8});
  fails(two, "kv_lens[1] is 6; allowed 0 to kv_len 5", {}, {5, 6});
  fails(two, "kv_lens[0] is -5", {}, {-5, 5});
  fails(two, "kv_lens[0] is 2147483647", {}, {std::numeric_limits<int32_t>::max(), 5});
  fails(two, "1 kv_lens for batch 2", {}, {5});
  AttentionOptions offsets;
  offsets.alignment = Alignment::kExplicit;
  offsets.offsets = {0, 1, 2};
  fails(two, "3 causal offsets for batch 2", offsets);
}

TEST_CASE("attention problem: past and new keys must continue each other") {
  AttentionShapes s = shapes({2, 4, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 6});
  s.past_k = Shape{2, 2, 7, 8};
  CHECK_THROWS_WITH(make(s), Contains("must be given together"));
  s.past_v = Shape{2, 2, 7, 6};
  const AttentionProblem problem = make(s);
  CHECK(problem.past_len == 7);
  CHECK(problem.kv_len == 12);
  CHECK(problem.sequences[0].offset == 9);
  CHECK(problem.sequences[1].offset == 9);
  CHECK(problem.present_v_shape() == Shape{2, 2, 12, 6});
  s.past_v = Shape{2, 2, 6, 6};
  CHECK_THROWS_WITH(make(s), Contains("past_len 7 and 6"));
  s.past_v = Shape{2, 2, 7, 8};
  CHECK_THROWS_WITH(make(s), Contains("past_v [2, 2, 7, 8] and v [2, 2, 5, 6] disagree"));
  s.past_v = Shape{2, 7, 6};
  CHECK_THROWS_WITH(make(s), Contains("past_v has shape [2, 7, 6]"));
}

TEST_CASE("attention problem: a mask is right-aligned and broadcast over batch heads and rows") {
  AttentionShapes s = shapes({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8});
  s.mask_dtype = DType::kF32;
  const auto strides = [&](const Shape& mask) {
    s.mask = mask;
    const AttentionProblem p = make(s);
    CHECK(p.has_mask);
    CHECK_FALSE(p.mask_is_bool);
    CHECK(p.mask.column == 1);
    return std::vector<int64_t>{p.mask.batch, p.mask.head, p.mask.row, p.mask_columns};
  };
  using List = std::vector<int64_t>;
  CHECK(strides({4, 5}) == List{0, 0, 5, 5});
  CHECK(strides({1, 5}) == List{0, 0, 0, 5});
  CHECK(strides({3, 4, 5}) == List{0, 20, 5, 5});
  CHECK(strides({1, 4, 5}) == List{0, 0, 5, 5});
  CHECK(strides({2, 3, 4, 5}) == List{60, 20, 5, 5});
  CHECK(strides({2, 1, 4, 5}) == List{20, 0, 5, 5});
  CHECK(strides({2, 3, 1, 5}) == List{15, 5, 0, 5});
  CHECK(strides({2, 3, 4, 2}) == List{24, 8, 2, 2});
  CHECK(strides({4, 1}) == List{0, 0, 1, 1});
  CHECK(strides({4, 0}) == List{0, 0, 0, 0});
  const auto fails = [&](const Shape& mask, const std::string& words) {
    s.mask = mask;
    CHECK_THROWS_AS(make(s), base::FormatError);
    CHECK_THROWS_WITH(make(s), Contains(words));
  };
  fails({4, 6}, "6 columns but there are 5 keys");
  fails({3, 5}, "3 for q_len 4");
  fails({2, 4, 5}, "2 for heads 3");
  fails({3, 3, 4, 5}, "3 for batch 2");
  fails({5}, "rank 2 to 4");
  s.mask_dtype = DType::kI32;
  fails({4, 5}, "mask has type i32");
}

TEST_CASE("attention problem: options out of range or in contradiction are usage errors") {
  const AttentionShapes s = shapes({3, 8}, {5, 8}, {5, 8});
  const auto fails = [&](const AttentionOptions& options, const std::string& words) {
    CHECK_THROWS_AS(make(s, options), base::UsageError);
    CHECK_THROWS_WITH(make(s, options), Contains(words));
  };
  AttentionOptions o;
  o.scale = std::numeric_limits<double>::quiet_NaN();
  fails(o, "scale is nan");
  o = {};
  o.softcap = -1;
  fails(o, "softcap is -1");
  o.softcap = std::numeric_limits<double>::infinity();
  fails(o, "softcap is inf");
  o = {};
  o.offsets = {1};
  fails(o, "alignment is not explicit");
  o = {};
  o.alignment = Alignment::kExplicit;
  fails(o, "without offsets");
  o.offsets = {std::numeric_limits<int64_t>::max()};
  fails(o, "out of range");
  o = {};
  o.heads = 2;
  fails(o, "packed layout only");
  o = {};
  o.layout = Layout::kPacked;
  fails(o, "heads 0");
  o = {};
  o.scale = 0;
  CHECK(make(s, o).scale == 0);
}

TEST_CASE("attention problem: bounds of visible keys follow alignment causal and window") {
  const AttentionShapes s = shapes({2, 8}, {5, 8}, {5, 8});
  const auto bounds = [&](const AttentionOptions& options,
                          const std::vector<int64_t>& kv_lens = {}) {
    const AttentionProblem p = make(s, options, kv_lens);
    std::vector<int64_t> out;
    for (int64_t i = 0; i < 2; ++i) {
      out.push_back(p.key_begin(0, i));
      out.push_back(p.key_end(0, i));
    }
    return out;
  };
  using List = std::vector<int64_t>;
  AttentionOptions o;
  CHECK(bounds(o) == List{0, 5, 0, 5});
  o.causal = true;
  CHECK(bounds(o) == List{0, 4, 0, 5});
  CHECK(bounds(o, {3}) == List{0, 2, 0, 3});
  o.alignment = Alignment::kTopLeft;
  CHECK(bounds(o) == List{0, 1, 0, 2});
  o.alignment = Alignment::kExplicit;
  o.offsets = {-2};
  CHECK(bounds(o) == List{0, 0, 0, 0});
  o.offsets = {2};
  CHECK(bounds(o) == List{0, 3, 0, 4});
  o.window_left = 1;
  CHECK(bounds(o) == List{1, 3, 2, 4});
  o.causal = false;
  o.window_right = 0;
  CHECK(bounds(o) == List{1, 3, 2, 4});
  o.window_right = 1;
  CHECK(bounds(o) == List{1, 4, 2, 5});
  o.window_left = o.window_right = std::numeric_limits<int64_t>::max();
  o.offsets = {-(int64_t{1} << 60)};
  CHECK(bounds(o) == List{0, 5, 0, 5});
  o.offsets = {int64_t{1} << 60};
  CHECK(bounds(o) == List{0, 5, 0, 5});
}

TEST_CASE("attention problem: index arithmetic is right past two to the 31") {
  // 8 * 28 * 4096 * 4096 elements and more: no tensor is made, only its strides.
  const int64_t big = 200000;
  AttentionShapes s = shapes({8, 28, big, 128}, {8, 4, big, 128}, {8, 4, big, 96});
  s.mask = Shape{8, 28, big, big};
  s.mask_dtype = DType::kBool;
  AttentionOptions o;
  o.causal = true;
  o.scores = ScoreStage::kWeights;
  const AttentionProblem p = make(s, o);
  CHECK(p.q.at(7, 27, big - 1) == int64_t{8} * 28 * big * 128 - 128);
  CHECK(p.v.at(7, 3, big - 1) == int64_t{8} * 4 * big * 96 - 96);
  CHECK(p.y.at(7, 27, big - 1) == int64_t{8} * 28 * big * 96 - 96);
  CHECK(p.mask.at(7, 27, big - 1) == int64_t{8} * 28 * big * big - big);
  CHECK(p.scores_shape().count() == int64_t{8} * 28 * big * big);
  CHECK(p.key_end(7, big - 1) == big);
}

TEST_CASE("attention problem: element counts past 64 bits are refused") {
  const int64_t huge = int64_t{1} << 40;
  AttentionOptions o;
  o.scores = ScoreStage::kRaw;
  const AttentionShapes s = shapes({1, 1, huge, 1}, {1, 1, huge, 1}, {1, 1, huge, 1});
  CHECK_NOTHROW(make(s));
  CHECK_THROWS_AS(make(s, o), base::FormatError);
  AttentionShapes past = shapes({1, 1}, {1, 1}, {1, 1});
  past.past_k = past.past_v = Shape{1, 1, kMaxLength, 1};
  CHECK_THROWS_WITH(make(past), Contains("together too long"));
  CHECK_THROWS_WITH(make(shapes({1, 1}, {kMaxLength + 1, 1}, {kMaxLength + 1, 1})),
                    Contains("longer than"));
  // Without keys v has no elements, but the output would.
  const AttentionShapes wide = shapes({4, 1, 1}, {1, 0, 1}, {1, 0, int64_t{1} << 62});
  CHECK_THROWS_AS(make(wide), base::FormatError);
}

TEST_CASE("attention problem: axes may be empty") {
  CHECK(make(shapes({0, 2, 3, 8}, {0, 2, 3, 8}, {0, 2, 3, 8})).y_shape.count() == 0);
  CHECK(make(shapes({1, 2, 0, 8}, {1, 2, 3, 8}, {1, 2, 3, 8})).sequences[0].offset == 3);
  const AttentionProblem p = make(shapes({1, 2, 3, 8}, {1, 2, 0, 8}, {1, 2, 0, 8}));
  CHECK(p.kv_len == 0);
  CHECK(p.key_end(0, 2) == 0);
}

TEST_CASE("attention problem: packed sequences are checked and counted from the tensor's start") {
  AttentionShapes s = shapes({2, 9, 8}, {2, 12, 8}, {2, 12, 8});
  s.cu_seqlens_q = {0, 4, 4, 9};
  s.cu_seqlens_k = {0, 5, 8, 12};
  AttentionProblem p = make(s);
  CHECK(p.is_packed);
  CHECK(p.most_rows() == 5);
  CHECK(p.sequences ==
        std::vector<nn::Sequence>{{0, 0, 4, 0, 5, 1}, {0, 4, 4, 5, 8, 4}, {0, 4, 9, 8, 12, 3}});
  AttentionOptions o;
  o.causal = true;
  o.window_left = 1;
  o.alignment = Alignment::kTopLeft;
  p = make(s, o);
  CHECK(p.key_begin(2, 4) == 8);
  CHECK(p.key_end(2, 4) == 9);
  CHECK(p.key_begin(2, 6) == 9);
  CHECK(p.key_end(2, 6) == 11);
  o.alignment = Alignment::kExplicit;
  o.offsets = {0, 1, -1};
  CHECK(make(s, o).sequences[2].offset == 3);

  const auto fails = [&](const std::vector<int64_t>& q, const std::vector<int64_t>& k,
                         const std::string& words) {
    AttentionShapes bad = s;
    bad.cu_seqlens_q = q;
    bad.cu_seqlens_k = k;
    CHECK_THROWS_AS(make(bad), base::FormatError);
    CHECK_THROWS_WITH(make(bad), Contains(words));
  };
  fails({0, 4, 9}, {0, 5, 8, 12}, "cu_seqlens_q has 3 bounds and cu_seqlens_k 4");
  fails({0, 9}, {}, "cu_seqlens_q has 2 bounds and cu_seqlens_k 0");
  fails({1, 9}, {0, 12}, "cu_seqlens_q[0] is 1; it must be 0");
  fails({0, 9}, {0, 13, 12}, "cu_seqlens_q has 2 bounds");
  fails({0, 5, 9}, {0, 13, 12}, "cu_seqlens_k[2] is 12, less than the 13 before it");
  fails({0, 9}, {0, 11}, "cu_seqlens_k ends at 11; it must end at kv_len 12");
  AttentionShapes batch = shapes({2, 2, 9, 8}, {2, 2, 12, 8}, {2, 2, 12, 8});
  batch.cu_seqlens_q = {0, 9};
  batch.cu_seqlens_k = {0, 12};
  CHECK_THROWS_WITH(make(batch), Contains("packed sequences in batch 2"));
  CHECK_THROWS_AS(make(s, {}, {12}), base::UsageError);
  o.offsets = {1, 2};
  CHECK_THROWS_WITH(make(s, o), Contains("2 causal offsets for 3 packed sequences"));
}

TEST_CASE("attention problem: slopes and sinks fit the heads and are numbers") {
  AttentionShapes s = shapes({2, 4, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 8});
  s.alibi_slopes = {1, 2, 3, 4};
  s.sinks = {5, 6, 7, -std::numeric_limits<float>::infinity()};
  AttentionProblem p = make(s);
  CHECK(p.slope(1, 2) == 3);
  CHECK(p.sink(1) == 6);
  s.alibi_slopes = {1, 2, 3, 4, 5, 6, 7, 8};
  p = make(s);
  CHECK(p.slope(0, 3) == 4);
  CHECK(p.slope(1, 2) == 7);
  CHECK(make(shapes({3, 8}, {5, 8}, {5, 8})).slope(0, 0) == 0);
  const auto fails = [&](const std::vector<float>& slopes, const std::vector<float>& sinks,
                         const std::string& words) {
    AttentionShapes bad = s;
    bad.alibi_slopes = slopes;
    bad.sinks = sinks;
    CHECK_THROWS_AS(make(bad), base::FormatError);
    CHECK_THROWS_WITH(make(bad), Contains(words));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  fails({1, 2}, {}, "2 ALiBi slopes for 4 heads and batch 2");
  fails({1, 2, 3, nan}, {}, "ALiBi slope 3 is nan");
  fails({1, 2, 3, 2e18F}, {}, "allowed -2^60 to 2^60");
  fails({}, {1}, "1 sinks for 4 heads");
  fails({}, {1, nan, 2, 3}, "sink 1 is nan");
  fails({}, {1, 2, 3, std::numeric_limits<float>::infinity()}, "sink 3 is inf");
}

TEST_CASE("ALiBi: the usual slopes of powers of two and of other numbers of heads") {
  CHECK(default_alibi_slopes(1) == std::vector<float>{1.0F / 256});
  CHECK(default_alibi_slopes(2) == std::vector<float>{1.0F / 16, 1.0F / 256});
  CHECK(default_alibi_slopes(8) == std::vector<float>{0.5F, 0.25F, 0.125F, 0.0625F, 0.03125F,
                                                      0.015625F, 0.0078125F, 0.00390625F});
  // 6 heads: the 4 of 4 heads (1/4, 1/16, 1/64, 1/256), then every second of 8 (1/2, 1/8).
  CHECK(default_alibi_slopes(6) ==
        std::vector<float>{0.25F, 0.0625F, 0.015625F, 0.00390625F, 0.5F, 0.125F});
  CHECK(default_alibi_slopes(16)[0] == static_cast<float>(std::sqrt(0.5)));
}

}  // namespace netcl::nn
