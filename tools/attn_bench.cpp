// SPDX-License-Identifier: Apache-2.0
// attn-bench: measures attention of one shape on one device.
#include <spdlog/spdlog.h>

#include "attn/bench_options.h"
#include "attn/bench_report.h"
#include "attn/bench_run.h"
#include "attn/device_option.h"
#include "base/file.h"
#include "cli/run_tool.h"
#include "cli/tool_app.h"

namespace {

using namespace netcl;

constexpr const char* kToolName = "attn-bench";

int run(const attn::BenchOptions& options, const cli::CommonOptions& common) {
  base::OutputFile out(options.output);  // an unwritable path ends the run before it measures
  cli::ProgressReport progress(common.progress);
  const attn::BenchResult result = attn::run_bench(options, common, progress.callback());
  progress.clear();
  attn::log_device(result.device);
  spdlog::info("kernel {}, first call {:.3f} ms wall, {} rows checked", result.kernel,
               result.first_call_ms, result.checked_rows);
  if (!result.check.passed) {
    spdlog::error("{}: the result is wrong: {}", attn::device_label(result.device),
                  attn::comparison_text(result.check));
    return 1;
  }
  switch (attn::bench_format(options)) {
    case attn::BenchFormat::kTable:
      out.write(attn::bench_table(result));
      break;
    case attn::BenchFormat::kJson:
      out.write(attn::bench_json(result));
      break;
    case attn::BenchFormat::kCsv:
      out.write(attn::bench_csv(result));
      break;
  }
  out.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  attn::BenchOptions options;
  cli::ToolApp app(kToolName,
                   "Measures attention of one shape on an OpenCL device or on the host.");
  attn::declare_bench_options(app, options);
  return cli::run_tool(
      argc, argv, app,
      [&](const cli::CommonOptions& common) {
        attn::check_bench_options(options);
        return attn::run_beside_driver(kToolName, options.device,
                                       [&] { return run(options, common); });
      },
      "kernels: OpenCL C 1.2\n");
}
