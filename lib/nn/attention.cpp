// SPDX-License-Identifier: Apache-2.0
#include "nn/attention.h"

#include "base/error.h"
#include "nn/attention_host.h"
#include "nn/attention_opencl.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

AttentionOutputs attention(const AttentionInputs& inputs, const AttentionOptions& options) {
  const AttentionProblem problem = make_attention_problem(inputs, options);
  if (!inputs.q.queue().is_host()) {
    return attention_opencl(inputs, options, problem);
  }
  if (options.kernel != "auto" && options.kernel != "host") {
    throw base::UsageError("attention: kernel " + base::quote(options.kernel) +
                           " is not for the host engine; allowed auto and host");
  }
  return attention_host(inputs, problem);
}

}  // namespace netcl::nn
