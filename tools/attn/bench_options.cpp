// SPDX-License-Identifier: Apache-2.0
#include "attn/bench_options.h"

#include "base/ascii.h"
#include "base/error.h"
#include "cli/output_name.h"
#include "cli/tool_app.h"

namespace netcl::attn {

namespace {

constexpr uint64_t kMaxSize = (uint64_t{1} << 31) - 1;
constexpr uint64_t kMaxRepeats = 1000000;
constexpr uint64_t kDefaultLength = 1024;
constexpr double kMaxSeconds = 86400;

const char* const kFooter =
    "Order of work: inputs from a seeded normal generator go to the device; the first call, which\n"
    "builds the kernels, is timed apart; its result is compared with attention in double "
    "precision\n"
    "(64 sampled rows of large shapes), and a difference ends the run with status 1 and no times;\n"
    "then 2 calls to warm up and --repeats measured ones, more until they took --min-time.\n"
    "\n"
    "Per call: device time = sum of its kernels' own times; wall time = from enqueueing to the "
    "end.\n"
    "Neither includes transfers or building. GFLOP/s and GB/s are of the median device time (wall\n"
    "time on the host engine), with\n"
    "  flop  = 4 * batch * heads * q_len * kv_len * head_dim; with --causal true only visible\n"
    "          (query, key) pairs count, exactly: about half when q_len = kv_len\n"
    "  bytes = q, k and v read once, the result written once\n"
    "\n"
    "Examples:\n"
    "  attn-bench --seq 1024 --causal true\n"
    "  attn-bench --batch 2 --heads 32 --kv-heads 8 --q-len 1 --kv-len 4096 --head-dim 128 \\\n"
    "    --dtype f16 --format json -o decode.json\n"
    "\n"
    "Exit codes: 0 done, 1 the result is wrong, 2 usage, 4 cannot write, 5 no such device or the\n"
    "shape does not fit it or the memory, 70 a bug of ours\n";

}  // namespace

void declare_bench_options(cli::ToolApp& app, BenchOptions& o) {
  const char* const shape = "Shape";
  app.add_integer("--batch", o.batch, 1, kMaxSize, "Sequences; default 1")->group(shape);
  app.add_integer("--heads", o.heads, 1, kMaxSize, "Query heads; default 8")->group(shape);
  app.add_integer("--kv-heads", o.kv_heads, 1, kMaxSize, "KV heads; default: as --heads")
      ->group(shape);
  app.add_integer("--seq", o.seq, 1, kMaxSize, "Queries and keys; default 1024")->group(shape);
  app.add_integer("--q-len", o.q_len, 1, kMaxSize, "Queries, with --kv-len in place of --seq")
      ->group(shape);
  app.add_integer("--kv-len", o.kv_len, 1, kMaxSize, "Keys")->group(shape);
  app.add_integer("--head-dim", o.head_dim, 1, kMaxSize, "Size of a head; default 64")
      ->group(shape);
  app.add_choice<bool>("--causal", o.causal, {{"false", false}, {"true", true}},
                       "Hide later keys, the last query aligned with the last key; default false")
      ->group(shape);
  app.add_text("--dtype", o.dtype, "TYPE", "f32 (default), f16, bf16, or q=f32,kv=f16")
      ->group(shape);
  const char* const run = "Run";
  app.add_text("--device", o.device, "SPEC",
               "auto, host, P:D, an index or a part of the device's or the platform's name;\n"
               "see attn-run --list-devices")
      ->group(run);
  app.add_choice<std::string>(
         "--kernel", o.kernel,
         {{"auto", "auto"}, {"naive", "naive"}, {"tiled", "tiled"}, {"panel", "panel"}},
         "OpenCL kernel; default auto")
      ->group(run);
  app.add_integer("--repeats", o.repeats, 1, kMaxRepeats, "Measured calls; default 10")->group(run);
  app.add_real("--min-time", o.min_time, 0, kMaxSeconds,
               "Measure on until the calls took this many seconds; default 0")
      ->group(run);
  app.add_integer("--seed", o.seed, 0, UINT64_MAX, "Seed of the inputs; default 1")->group(run);
  const char* const output = "Output";
  app.add_choice<BenchFormat>(
         "--format", o.format,
         {{"table", BenchFormat::kTable}, {"json", BenchFormat::kJson}, {"csv", BenchFormat::kCsv}},
         "table; json: Google Benchmark's schema; csv. Default: what -o is named\n"
         "(NAME.json, .csv), else table")
      ->group(output);
  app.add_text("-o,--output", o.output, "FILE", "Result; default: standard output")->group(output);
  app.footer(kFooter);
}

void check_bench_options(const BenchOptions& options) {
  using base::UsageError;
  if (options.seq != 0 && (options.q_len != 0 || options.kv_len != 0)) {
    throw UsageError("--seq excludes --q-len and --kv-len");
  }
  if ((options.q_len == 0) != (options.kv_len == 0)) {
    throw UsageError("--q-len and --kv-len go together");
  }
  if (options.kv_heads != 0 && options.heads % options.kv_heads != 0) {
    throw UsageError("--heads " + std::to_string(options.heads) + " is no multiple of --kv-heads " +
                     std::to_string(options.kv_heads));
  }
  if (options.device == "host" && options.kernel != "auto") {
    throw UsageError("--kernel " + options.kernel + " is an OpenCL kernel; --device host has none");
  }
  parse_storage_types(options.dtype);
  switch (bench_format(options)) {
    case BenchFormat::kTable:
      options.format
          ? cli::check_output_name(options.output, "--format table writes text", {".txt"})
          : cli::check_output_name(options.output, "without --format the name says what is written",
                                   {".txt", ".json", ".csv"});
      break;
    case BenchFormat::kJson:
      cli::check_output_name(options.output, "--format json writes JSON", {".json"});
      break;
    case BenchFormat::kCsv:
      cli::check_output_name(options.output, "--format csv writes CSV", {".csv"});
      break;
  }
}

BenchFormat bench_format(const BenchOptions& options) {
  if (options.format) {
    return *options.format;
  }
  return base::has_extension(options.output, ".json")  ? BenchFormat::kJson
         : base::has_extension(options.output, ".csv") ? BenchFormat::kCsv
                                                       : BenchFormat::kTable;
}

StorageTypes bench_types(const BenchOptions& options) {
  StorageTypes types = parse_storage_types(options.dtype);
  types.q = types.q.value_or(core::DType::kF32);
  types.kv = types.kv.value_or(core::DType::kF32);
  return types;
}

AttentionShape bench_shape(const BenchOptions& options) {
  const StorageTypes types = bench_types(options);
  const uint64_t seq = options.seq == 0 ? kDefaultLength : options.seq;
  AttentionShape shape;
  shape.batch = static_cast<int64_t>(options.batch);
  shape.heads = static_cast<int64_t>(options.heads);
  shape.kv_heads = static_cast<int64_t>(options.kv_heads == 0 ? options.heads : options.kv_heads);
  shape.q_len = static_cast<int64_t>(options.q_len == 0 ? seq : options.q_len);
  shape.kv_len = static_cast<int64_t>(options.kv_len == 0 ? seq : options.kv_len);
  shape.head_dim = shape.v_head_dim = static_cast<int64_t>(options.head_dim);
  shape.causal = options.causal;
  shape.q_bytes = static_cast<int64_t>(core::dtype_size(*types.q));
  shape.kv_bytes = static_cast<int64_t>(core::dtype_size(*types.kv));
  return shape;
}

}  // namespace netcl::attn
