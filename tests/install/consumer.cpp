// SPDX-License-Identifier: Apache-2.0
// An outside program over the installed package: tokenizer and attention through the public
// headers.
#include <iostream>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/tensor.h"
#include "nn/attention.h"
#include "text/pre_splitter.h"

int main() {
  using namespace netcl;
  std::vector<text::Piece> pieces;
  text::make_named_splitter("gpt2")->split("Hello world!", pieces);
  const core::Device device = core::DeviceManager::open("host");
  const std::vector<float> q = {1, 0, 0, 2, 1, 1};
  const std::vector<float> k = {1, 0, 1, 1, 0, 2};
  const std::vector<float> v = {10, 1, 20, 2, 30, 3};
  const auto tensor = [&](const std::vector<float>& values) {
    return core::Tensor::from_host(device.queue, core::HostTensor::from_floats({3, 2}, values));
  };
  nn::AttentionOptions options;
  options.causal = true;
  const nn::AttentionInputs inputs{tensor(q), tensor(k), tensor(v), {}, {}, {}, {}};
  const std::vector<float> y = nn::attention(inputs, options).y.to_host().to_floats();
  const bool right =
      pieces.size() == 3 && y[0] == 10.0F && y[1] == 1.0F && y[5] > 2.2F && y[5] < 2.21F;
  std::cout << "consumer: " << (right ? "ok" : "wrong") << '\n';
  return right ? 0 : 1;
}
