// SPDX-License-Identifier: Apache-2.0
// The chapter's sample program, step for step: train a tokenizer on two sentences, encode and
// decode, and run RotaryAttention on a batch of random vectors on the best device. Its Tape is not
// part of this test.
#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/device.h"
#include "core/tensor.h"
#include "nn/embedding.h"
#include "nn/rotary_attention.h"
#include "support/catch.h"
#include "support/device.h"
#include "text/bpe_trainer.h"
#include "text/tokenizer.h"

namespace {

using namespace netcl;

const std::vector<std::string> kSentences{"Hello world!", "Attention is all you need."};

text::BpeTokenizer train_tokenizer() {
  size_t next = 0;
  return text::BpeTokenizer::train_from_iterator(
      [&]() -> std::optional<std::string_view> {
        return next < kSentences.size() ? std::optional<std::string_view>(kSentences[next++])
                                        : std::nullopt;
      },
      text::TrainerOptions{});
}

double largest_error(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got[i] - want[i]);
    REQUIRE_FALSE(std::isnan(error));
    largest = std::max(largest, error);
  }
  return largest;
}

core::HostTensor normal_tensor(const core::Shape& shape, uint64_t seed) {
  base::Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (float& value : values) {
    value = static_cast<float>(rng.normal());
  }
  return core::HostTensor::from_floats(shape, values);
}

}  // namespace

TEST_CASE("chapter sample: two sentences train a tokenizer that gives the text back") {
  const text::BpeTokenizer tok = train_tokenizer();
  const std::vector<uint32_t> tokens = tok.encode("Hello world!");
  CHECK_FALSE(tokens.empty());
  CHECK(tokens.size() < std::string("Hello world!").size());
  CHECK(tok.decode(tokens) == "Hello world!");
  // Text the trainer never saw is bytes at worst.
  const std::string unseen = "\xe6\xb3\xa8\xe6\x84\x8f\x20\x00 and \xff";
  CHECK(tok.decode(tok.encode(unseen)) == unseen);
}

TEST_CASE("chapter sample: RotaryAttention keeps the shape of the batch") {
  const core::Queue q = core::DeviceManager::open("auto").queue;
  const nn::RotaryAttention attn(q, /*dim=*/256, /*n_heads=*/4, /*n_kv_heads=*/4,
                                 /*max_seq_len=*/512);
  // Batch of 2 sequences, length 16, dimension 256.
  const core::HostTensor batch = normal_tensor({2, 16, 256}, 0);
  const core::Tensor x_batch = core::Tensor::from_host(q, batch);
  const core::Tensor out = attn(x_batch);
  CHECK(out.shape() == core::Shape{2, 16, 256});

  // The same module on host and device, against double.
  const std::vector<double> want = attn.reference_forward(batch).to_doubles();
  std::vector<core::Queue> queues{core::DeviceManager::open("host").queue};
  if (const auto device = tests::require_device_queue()) {
    queues.push_back(*device);
  }
  for (const core::Queue& queue : queues) {
    const nn::RotaryAttention module(queue, 256, 4, 4, 512);
    CHECK(largest_error(module(core::Tensor::from_host(queue, batch)).to_host().to_doubles(),
                        want) < 5e-6);
  }
  CHECK(largest_error(out.to_host().to_doubles(), want) < 5e-6);
}

TEST_CASE("chapter sample: text becomes tokens and rows and attention") {
  const text::BpeTokenizer tok = train_tokenizer();
  const std::vector<uint32_t> tokens = tok.encode("Attention is all you need. Hello world!");
  const std::vector<int64_t> ids(tokens.begin(), tokens.end());
  const auto length = static_cast<int64_t>(ids.size());
  const core::Queue q = core::DeviceManager::open("auto").queue;
  const core::Tensor table =
      core::Tensor::from_host(q, nn::make_embedding_table(tok.id_limit(), 64, 0));
  const core::Tensor x = nn::embedding(table, core::HostTensor::from_int64s({1, length}, ids));
  CHECK(x.shape() == core::Shape{1, length, 64});
  const nn::RotaryAttention attn(q, 64, 4, 2, 512);
  const core::Tensor y = attn(x);
  CHECK(y.shape() == x.shape());
  CHECK(largest_error(y.to_host().to_doubles(), attn.reference_forward(x.to_host()).to_doubles()) <
        5e-6);
}
