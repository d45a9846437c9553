// SPDX-License-Identifier: Apache-2.0
// attn-run: tensors, or token ids through a rotary attention module, to attention.
#include "attn/device_option.h"
#include "attn/run_options.h"
#include "attn/run_session.h"
#include "base/file.h"
#include "cli/run_tool.h"
#include "cli/tool_app.h"

namespace {

using namespace netcl;

constexpr const char* kToolName = "attn-run";

int run(const attn::RunOptions& options, const cli::CommonOptions& common) {
  if (options.list_devices) {
    base::write_file("-", attn::device_list());
    return 0;
  }
  return attn::run_session(options, common);
}

}  // namespace

int main(int argc, char** argv) {
  attn::RunOptions options;
  cli::ToolApp app(kToolName, "Computes attention on an OpenCL device or on the host.");
  attn::declare_run_options(app, options);
  return cli::run_tool(
      argc, argv, app,
      [&](const cli::CommonOptions& common) {
        attn::check_run_options(options);
        return attn::run_beside_driver(kToolName,
                                       options.uses_reference() ? "host" : options.device,
                                       [&] { return run(options, common); });
      },
      "kernels: OpenCL C 1.2\n");
}
