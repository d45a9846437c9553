// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_host.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "base/thread_pool.h"
#include "core/host_tensor.h"
#include "nn/attention_tile.h"
#include "nn/present.h"

namespace netcl::nn {

namespace {

using core::DType;
using core::HostTensor;

constexpr int64_t kTileRows = 64;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Zero-filled floats, aligned for the tile functions.
class Floats {
 public:
  Floats() = default;
  explicit Floats(int64_t count)
      : data_(new (std::align_val_t{kTileBytesAlign}) float[static_cast<size_t>(count)]()) {}
  float* get() { return data_.get(); }
  bool empty() const { return data_ == nullptr; }

 private:
  struct Delete {
    void operator()(float* data) const {
      ::operator delete[](data, std::align_val_t{kTileBytesAlign});
    }
  };
  std::unique_ptr<float[], Delete> data_;
};

// What one thread works in.
struct Scratch {
  explicit Scratch(const AttentionProblem& problem)
      : v_width(round_up(problem.v_head_dim, kTileWidthAlign)),
        q(kTileRows * problem.head_dim),
        k_rows(kTileKeys * problem.head_dim),
        k_transposed(kTileKeys * problem.head_dim),
        v(kTileKeys * v_width),
        acc(kTileRows * v_width),
        s(kTileRows * kTileKeys) {}

  int64_t v_width;
  Floats q, k_rows, k_transposed, v, acc, s;
  Floats v_visible;  // only once a value is not finite
  float bias[kTileKeys];
  float highest[kTileRows], sum[kTileRows], keep[kTileRows];
};

// Rows [i0, i0 + rows) of one head of sequence s, which lies in batch item b.
struct RowBlock {
  int64_t s, b, h, g, i0, rows;
};

class HostEngine {
 public:
  HostEngine(const AttentionProblem& problem, const HostTensor& q, const HostTensor& k,
             const HeadStrides& k_strides, const HostTensor& v, const HeadStrides& v_strides,
             const HostTensor* mask)
      : problem_(problem),
        tile_(tile_functions()),
        q_(q),
        k_(k),
        v_(v),
        mask_(mask),
        k_strides_(k_strides),
        v_strides_(v_strides),
        scale_(static_cast<float>(problem.scale)),
        softcap_(static_cast<float>(problem.softcap)) {}

  void run(base::ThreadPool& pool, HostTensor& y, HostTensor* lse, HostTensor* scores) const;

 private:
  void run_block(const RowBlock& block, Scratch& x, HostTensor& y, HostTensor* lse,
                 HostTensor* scores) const;
  void load_q(const RowBlock& block, Scratch& x) const;
  void load_k(const RowBlock& block, int64_t j0, int64_t keys, Scratch& x) const;
  bool load_v(const RowBlock& block, int64_t j0, int64_t keys, Scratch& x) const;
  void load_bias(const RowBlock& block, int64_t i, int64_t j0, int64_t keys, Scratch& x) const;
  void apply_softcap(float* s, int64_t count) const;
  void apply_mask(const RowBlock& block, int64_t j0, int64_t keys, Scratch& x) const;
  void apply_alibi(const RowBlock& block, int64_t i, int64_t j0, int64_t begin, int64_t end,
                   float* s) const;
  void accumulate_visible(int64_t rows, int64_t keys, Scratch& x) const;
  void write_rows(const RowBlock& block, Scratch& x, HostTensor& y, HostTensor* lse) const;
  void write_scores(const RowBlock& block, Scratch& x, HostTensor& scores) const;

  const AttentionProblem& problem_;
  const TileFunctions& tile_;
  const HostTensor& q_;
  const HostTensor& k_;
  const HostTensor& v_;
  const HostTensor* mask_;
  HeadStrides k_strides_, v_strides_;
  float scale_, softcap_;
};

// `count` elements of `from` beginning at `index`, as floats.
void read_floats(const HostTensor& from, int64_t index, int64_t count, float* to) {
  const size_t bytes = core::dtype_size(from.dtype());
  core::convert_elements(from.data() + static_cast<size_t>(index) * bytes, from.dtype(),
                         reinterpret_cast<std::byte*>(to), DType::kF32, static_cast<size_t>(count));
}

void HostEngine::load_q(const RowBlock& block, Scratch& x) const {
  for (int64_t r = 0; r < block.rows; ++r) {
    read_floats(q_, problem_.q.at(block.b, block.h, block.i0 + r), problem_.head_dim,
                x.q.get() + r * problem_.head_dim);
  }
}

// Keys j0 .. j0 + keys as columns of k_transposed; the columns after them, up to the next multiple
// of kTileKeysStep, are zero.
void HostEngine::load_k(const RowBlock& block, int64_t j0, int64_t keys, Scratch& x) const {
  const int64_t width = problem_.head_dim;
  float* const rows = x.k_rows.get();
  for (int64_t j = 0; j < keys; ++j) {
    read_floats(k_, k_strides_.at(block.b, block.g, j0 + j), width, rows + j * width);
  }
  const int64_t columns_used = round_up(keys, kTileKeysStep);
  std::fill(rows + keys * width, rows + columns_used * width, 0.0F);
  float* const columns = x.k_transposed.get();
  constexpr int64_t kStep = 16;  // lines of the target that stay in the first-level cache
  for (int64_t d0 = 0; d0 < width; d0 += kStep) {
    const int64_t d1 = std::min(d0 + kStep, width);
    for (int64_t j = 0; j < columns_used; ++j) {
      for (int64_t d = d0; d < d1; ++d) {
        columns[d * kTileKeys + j] = rows[j * width + d];
      }
    }
  }
}

// Values j0 .. j0 + keys as rows of v; true when all of them are finite.
bool HostEngine::load_v(const RowBlock& block, int64_t j0, int64_t keys, Scratch& x) const {
  constexpr uint32_t kExponent = 0x7f800000U;
  uint32_t not_finite = 0;
  for (int64_t j = 0; j < keys; ++j) {
    float* const row = x.v.get() + j * x.v_width;
    read_floats(v_, v_strides_.at(block.b, block.g, j0 + j), problem_.v_head_dim, row);
    for (int64_t d = 0; d < problem_.v_head_dim; ++d) {
      not_finite |= (std::bit_cast<uint32_t>(row[d]) & kExponent) == kExponent ? 1U : 0U;
    }
  }
  return not_finite == 0;
}

// What the mask adds to the scores of row i and keys j0 .. j0 + keys; -inf for "may not".
void HostEngine::load_bias(const RowBlock& block, int64_t i, int64_t j0, int64_t keys,
                           Scratch& x) const {
  const int64_t present = std::clamp<int64_t>(problem_.mask_columns - j0, 0, keys);
  const int64_t from = problem_.mask.at(block.b, block.h, i) + j0;
  if (present > 0) {
    read_floats(*mask_, from, present, x.bias);
  }
  if (problem_.mask_is_bool) {
    for (int64_t j = 0; j < present; ++j) {
      x.bias[j] = x.bias[j] != 0 ? 0.0F : kMinusInfinity;
    }
  }
  std::fill(x.bias + present, x.bias + keys, kMinusInfinity);
}

void HostEngine::apply_softcap(float* s, int64_t count) const {
  if (softcap_ > 0) {
    for (int64_t j = 0; j < count; ++j) {
      s[j] = softcap_ * std::tanh(s[j] / softcap_);
    }
  }
}

// Takes slope * distance off the scores of row i and keys j0 + begin .. j0 + end.
void HostEngine::apply_alibi(const RowBlock& block, int64_t i, int64_t j0, int64_t begin,
                             int64_t end, float* s) const {
  const float slope = problem_.slope(block.s, block.h);
  if (slope == 0) {
    return;
  }
  const int64_t aligned = i + problem_.sequences[static_cast<size_t>(block.s)].offset - j0;
  for (int64_t j = begin; j < end; ++j) {
    s[j] -= slope * static_cast<float>(std::abs(aligned - j));
  }
}

// Scores of invisible keys, and of the columns past `keys`, become -inf.
void HostEngine::apply_mask(const RowBlock& block, int64_t j0, int64_t keys, Scratch& x) const {
  for (int64_t r = 0; r < block.rows; ++r) {
    float* const s = x.s.get() + r * kTileKeys;
    const int64_t i = block.i0 + r;
    const int64_t end = std::clamp<int64_t>(problem_.key_end(block.s, i) - j0, 0, keys);
    const int64_t begin = std::clamp<int64_t>(problem_.key_begin(block.s, i) - j0, 0, end);
    std::fill(s, s + begin, kMinusInfinity);
    std::fill(s + end, s + kTileKeys, kMinusInfinity);
    apply_alibi(block, i, j0, begin, end, s);
    if (mask_ != nullptr && begin < end) {
      load_bias(block, i, j0, keys, x);
      for (int64_t j = begin; j < end; ++j) {
        s[j] = x.bias[j] == kMinusInfinity ? kMinusInfinity : s[j] + x.bias[j];
      }
    }
  }
}

// accumulate() for values that are not all finite, where a weight of 0 would not do: each row sees
// the values with zeros in place of those it may not see. The sums are formed as in accumulate().
void HostEngine::accumulate_visible(int64_t rows, int64_t keys, Scratch& x) const {
  if (x.v_visible.empty()) {
    x.v_visible = Floats(kTileKeys * x.v_width);
  }
  for (int64_t r = 0; r < rows; ++r) {
    const float* const p = x.s.get() + r * kTileKeys;
    for (int64_t j = 0; j < keys; ++j) {
      float* const to = x.v_visible.get() + j * x.v_width;
      if (p[j] == 0) {
        std::fill(to, to + x.v_width, 0.0F);
      } else {
        std::copy_n(x.v.get() + j * x.v_width, x.v_width, to);
      }
    }
    tile_.accumulate(p, 1, x.keep + r, x.v_visible.get(), keys, x.v_width,
                     x.acc.get() + r * x.v_width);
  }
}

void HostEngine::write_rows(const RowBlock& block, Scratch& x, HostTensor& y,
                            HostTensor* lse) const {
  const size_t bytes = core::dtype_size(y.dtype());
  for (int64_t r = 0; r < block.rows; ++r) {
    float* const acc = x.acc.get() + r * x.v_width;
    const bool empty = x.sum[r] == 0;
    for (int64_t d = 0; d < problem_.v_head_dim; ++d) {
      acc[d] = empty ? 0.0F : acc[d] / x.sum[r];
    }
    const int64_t to = problem_.y.at(block.b, block.h, block.i0 + r);
    core::convert_elements(reinterpret_cast<const std::byte*>(acc), DType::kF32,
                           y.data() + static_cast<size_t>(to) * bytes, y.dtype(),
                           static_cast<size_t>(problem_.v_head_dim));
    if (lse != nullptr) {
      const int64_t at = (block.b * problem_.heads + block.h) * problem_.q_len + block.i0 + r;
      lse->as<float>()[static_cast<size_t>(at)] =
          empty ? kMinusInfinity : x.highest[r] + std::log(x.sum[r]);
    }
  }
}

// A second pass over all keys: with highest and sum of the first, the weights are known.
void HostEngine::write_scores(const RowBlock& block, Scratch& x, HostTensor& scores) const {
  const ScoreStage stage = problem_.scores;
  const int64_t first_row = (block.b * problem_.heads + block.h) * problem_.q_len + block.i0;
  float* const out = scores.as<float>().data() + first_row * problem_.kv_len;
  for (int64_t j0 = 0; j0 < problem_.kv_len; j0 += kTileKeys) {
    const int64_t keys = std::min(kTileKeys, problem_.kv_len - j0);
    load_k(block, j0, keys, x);
    tile_.score(x.q.get(), block.rows, problem_.head_dim, x.k_transposed.get(), keys, scale_,
                x.s.get());
    if (stage != ScoreStage::kRaw) {
      apply_softcap(x.s.get(), block.rows * kTileKeys);
    }
    if (stage == ScoreStage::kMasked || stage == ScoreStage::kWeights) {
      apply_mask(block, j0, keys, x);
    }
    for (int64_t r = 0; r < block.rows; ++r) {
      float* const s = x.s.get() + r * kTileKeys;
      if (stage == ScoreStage::kWeights) {
        for (int64_t j = 0; j < keys; ++j) {
          s[j] = s[j] == kMinusInfinity ? 0 : exp_nonpositive(s[j] - x.highest[r]) / x.sum[r];
        }
      }
      std::copy(s, s + keys, out + r * problem_.kv_len + j0);
    }
  }
}

void HostEngine::run_block(const RowBlock& block, Scratch& x, HostTensor& y, HostTensor* lse,
                           HostTensor* scores) const {
  const int64_t last_row = block.i0 + block.rows - 1;
  const int64_t begin = problem_.key_begin(block.s, block.i0);
  int64_t end = problem_.key_end(block.s, last_row);
  if (mask_ != nullptr) {
    end = std::min(end, problem_.mask_columns);
  }
  load_q(block, x);
  // The sink is a score that came before all keys, with a value of zeros.
  const float sink = problem_.sink(block.h);
  std::fill(x.highest, x.highest + block.rows, sink);
  std::fill(x.sum, x.sum + block.rows, sink == kMinusInfinity ? 0.0F : 1.0F);
  std::fill(x.acc.get(), x.acc.get() + block.rows * x.v_width, 0.0F);
  for (int64_t j0 = begin; j0 < end; j0 += kTileKeys) {
    const int64_t keys = std::min(kTileKeys, end - j0);
    load_k(block, j0, keys, x);
    tile_.score(x.q.get(), block.rows, problem_.head_dim, x.k_transposed.get(), keys, scale_,
                x.s.get());
    apply_softcap(x.s.get(), block.rows * kTileKeys);
    apply_mask(block, j0, keys, x);
    tile_.softmax(x.s.get(), block.rows, x.highest, x.sum, x.keep);
    if (load_v(block, j0, keys, x)) {
      tile_.accumulate(x.s.get(), block.rows, x.keep, x.v.get(), keys, x.v_width, x.acc.get());
    } else {
      accumulate_visible(block.rows, keys, x);
    }
  }
  write_rows(block, x, y, lse);
  if (scores != nullptr) {
    write_scores(block, x, *scores);
  }
}

void HostEngine::run(base::ThreadPool& pool, HostTensor& y, HostTensor* lse,
                     HostTensor* scores) const {
  // Blocks of each head of a sequence, and of all sequences before it.
  std::vector<int64_t> blocks, before = {0};
  for (const Sequence& sequence : problem_.sequences) {
    blocks.push_back(round_up(sequence.q_end - sequence.q_begin, kTileRows) / kTileRows);
    before.push_back(before.back() + problem_.heads * blocks.back());
  }
  const int64_t block_count = before.back();
  // Handing out an item costs about as much as one query over a few keys: small blocks go together.
  const int64_t group = std::clamp<int64_t>(block_count / 1024, 1, 64);
  std::vector<std::unique_ptr<Scratch>> scratch(pool.thread_count());
  const auto run_group = [&](size_t item, size_t thread) {
    if (scratch[thread] == nullptr) {
      scratch[thread] = std::make_unique<Scratch>(problem_);
    }
    const int64_t first = static_cast<int64_t>(item) * group;
    const int64_t last = std::min(first + group, block_count);
    for (int64_t index = first; index < last; ++index) {
      const auto after = std::upper_bound(before.begin(), before.end(), index);
      const size_t s = static_cast<size_t>(after - before.begin() - 1);
      const Sequence& sequence = problem_.sequences[s];
      const int64_t place = index - before[s];
      RowBlock block;
      block.s = static_cast<int64_t>(s);
      block.b = sequence.batch;
      block.h = place / blocks[s];
      block.g = problem_.kv_head_of(block.h);
      block.i0 = sequence.q_begin + place % blocks[s] * kTileRows;
      block.rows = std::min(kTileRows, sequence.q_end - block.i0);
      run_block(block, *scratch[thread], y, lse, scores);
    }
  };
  pool.parallel_for(static_cast<size_t>(round_up(block_count, group) / group), run_group);
}

core::Tensor present_of(const core::Queue& queue, const core::Tensor& past,
                        const core::Tensor& fresh, const HeadStrides& strides,
                        const core::Shape& shape) {
  core::Tensor present = core::Tensor::empty(queue, past.dtype(), shape);
  join_past(past.host(), fresh.host(), strides, present.host());
  return present;
}

}  // namespace

AttentionOutputs attention_host(const AttentionInputs& inputs, const AttentionProblem& problem) {
  const core::Queue& queue = inputs.q.queue();
  AttentionOutputs outputs{
      core::Tensor::zeros(queue, inputs.q.dtype(), problem.y_shape), {}, {}, {}, {}};
  if (problem.want_lse) {
    outputs.lse = core::Tensor::zeros(queue, DType::kF32, problem.lse_shape());
  }
  if (problem.scores != ScoreStage::kNone) {
    outputs.scores = core::Tensor::zeros(queue, DType::kF32, problem.scores_shape());
  }
  const core::Tensor* k = &inputs.k;
  const core::Tensor* v = &inputs.v;
  HeadStrides k_strides = problem.k;
  HeadStrides v_strides = problem.v;
  if (problem.has_past) {
    outputs.present_k =
        present_of(queue, *inputs.past_k, inputs.k, problem.k, problem.present_k_shape());
    outputs.present_v =
        present_of(queue, *inputs.past_v, inputs.v, problem.v, problem.present_v_shape());
    k = &*outputs.present_k;
    v = &*outputs.present_v;
    k_strides = contiguous_strides(problem.kv_heads, problem.kv_len, problem.head_dim);
    v_strides = contiguous_strides(problem.kv_heads, problem.kv_len, problem.v_head_dim);
  }
  if (outputs.y.count() == 0) {
    return outputs;
  }
  const HostEngine engine(problem, inputs.q.host(), k->host(), k_strides, v->host(), v_strides,
                          problem.has_mask ? &inputs.mask->host() : nullptr);
  engine.run(queue.thread_pool(), outputs.y.host(),
             outputs.lse.has_value() ? &outputs.lse->host() : nullptr,
             outputs.scores.has_value() ? &outputs.scores->host() : nullptr);
  return outputs;
}

}  // namespace netcl::nn
