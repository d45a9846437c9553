// SPDX-License-Identifier: Apache-2.0
#include "cli/run_tool.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/version.h"
#include "cli/tool_app.h"

namespace netcl::cli {

namespace {

constexpr int kOurBug = 70;
constexpr uint64_t kMaxThreads = 4096;

// A second signal waits until the files are gone. The default action then ends the process, so that
// the parent sees what ended us; it comes when the handler returns.
extern "C" void end_on_signal(int number) {
  base::remove_temporary_files();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void install_signal_handlers() {
  struct sigaction ending {};
  ending.sa_handler = end_on_signal;
  ::sigemptyset(&ending.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&ending.sa_mask, number);
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction previous {};
    // A signal that is ignored from outside (nohup, a background job) stays ignored.
    if (::sigaction(number, nullptr, &previous) == 0 && previous.sa_handler != SIG_IGN) {
      ::sigaction(number, &ending, nullptr);
    }
  }
  ::signal(SIGPIPE, SIG_IGN);  // writes report EPIPE, which becomes base::BrokenPipe
  ::signal(SIGXFSZ, SIG_IGN);  // writes report EFBIG, which becomes base::IoError
}

// A standard stream that is closed from outside would lend its number to the next file opened, and
// results would go there. It is taken up by a descriptor that fails on use instead.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) {
      // Lower numbers are taken, so open() returns exactly this one.
      ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

// Ends the process as any filter ends whose reader went away.
int end_on_broken_pipe() {
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
  return 128 + SIGPIPE;
}

void install_logger(const std::string& tool_name) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(tool_name, std::move(sink));
  logger->set_pattern("%n: %l: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void apply_verbosity(const CommonOptions& common) {
  spdlog::set_level(common.quiet     ? spdlog::level::err
                    : common.verbose ? spdlog::level::info
                                     : spdlog::level::warn);
}

void apply_cpu_level(const CommonOptions& common) {
  if (!common.cpu_level.has_value()) {
    return;
  }
  const auto levels = base::machine_cpu_levels();
  if (std::find(levels.begin(), levels.end(), *common.cpu_level) == levels.end()) {
    throw base::UsageError(
        "--cpu: this machine has no " + std::string(base::cpu_level_name(*common.cpu_level)) +
        "; its highest level is " + std::string(base::cpu_level_name(levels.back())));
  }
  base::limit_cpu_level(*common.cpu_level);
}

// A file name may hold anything; a message stays one line without control bytes. Build logs of a
// device's compiler keep their lines.
std::string one_line(const std::string& message) {
  std::string out;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      out += c;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned>(byte));
      out += escaped;
    }
  }
  return out;
}

int fail(int exit_code, const std::string& message) {
  constexpr int kDevice = 5;
  spdlog::error("{}", exit_code == kDevice ? message : one_line(message));
  return exit_code;
}

int report_bug(const std::string& message) {
  return fail(kOurBug, "internal error: " + message +
                           "; please report it with the command line and the input");
}

void print_result(const std::string& text) {
  base::OutputFile out("-");
  out.write(text);
  out.commit();
}

std::string version_text(const ToolApp& app, const std::string& details) {
  std::string text =
      app.get_name() + " " + base::kVersion + " (commit " + base::kCommit + ")\n" + details;
  if (text.back() != '\n') {
    text += '\n';
  }
  return text;
}

void add_common_options(ToolApp& app, CommonOptions& common, uint64_t& thread_count,
                        const std::string& version) {
  app.set_help_flag("-h,--help", "Print this help and exit")->group("Common options");
  app.add_switch("-q,--quiet", common.quiet, "No warnings, errors alone")->group("Common options");
  app.add_switch("-v,--verbose", common.verbose, "Facts about the run")->group("Common options");
  app.add_integer("--threads", thread_count, 1, kMaxThreads,
                  "Use at most N threads, 1 to 4096; default: all cores")
      ->group("Common options");
  app.add_choice<ProgressMode>("--progress", common.progress,
                               {{"auto", ProgressMode::kAuto},
                                {"bar", ProgressMode::kBar},
                                {"json", ProgressMode::kJson},
                                {"none", ProgressMode::kNone}},
                               "Progress on standard error; auto: a bar on a terminal")
      ->group("Common options");
  // For tests and for finding a fault, so --help leaves it out: every level gives the same results.
  std::vector<Choice<base::CpuLevel>> levels;
  for (const base::CpuLevel level : base::all_cpu_levels()) {
    levels.push_back({base::cpu_level_name(level), level});
  }
  app.add_choice("--cpu", common.cpu_level, std::move(levels),
                 "Use no instruction set above this one")
      ->group("");
  app.set_version_flag("--version", version, "Print version and commit and exit")
      ->group("Common options");
}

}  // namespace

int run_action(const std::string& tool_name, const std::function<int()>& action) {
  try {
    return action();
  } catch (const base::BrokenPipe&) {
    return end_on_broken_pipe();
  } catch (const base::UsageError& error) {
    return fail(error.exit_code(), std::string(error.what()) + "; see '" + tool_name + " --help'");
  } catch (const base::Error& error) {
    return fail(error.exit_code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(4, error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    return fail(5,
                "out of memory; the input or the sizes asked for are too large for this machine");
  } catch (const std::exception& error) {
    return report_bug(error.what());
  } catch (...) {
    return report_bug("unknown exception");
  }
}

int run_tool(int argc, const char* const* argv, ToolApp& app,
             const std::function<int(const CommonOptions&)>& action,
             const std::string& version_details) {
  hold_standard_streams();
  install_logger(app.get_name());
  install_signal_handlers();
  return run_action(app.get_name(), [&] {
    CommonOptions common;
    uint64_t thread_count = 0;
    const std::string version = version_text(app, version_details);
    add_common_options(app, common, thread_count, version);
    try {
      app.parse_arguments(argc, argv);
    } catch (const CLI::CallForHelp&) {
      print_result(app.help());
      return 0;
    } catch (const CLI::CallForVersion&) {
      print_result(version);
      return 0;
    }
    common.thread_count = thread_count;
    apply_verbosity(common);
    apply_cpu_level(common);
    return action(common);
  });
}

void refuse_binary_on_terminal(const std::string& output_path, const std::string& what) {
  if ((output_path.empty() || output_path == "-") && ::isatty(STDOUT_FILENO) == 1) {
    throw base::UsageError("<stdout>: " + what +
                           " is binary and standard output is a terminal; use -o FILE or a pipe");
  }
}

void refuse_same_outputs(const std::vector<std::string>& named) {
  const auto resolved = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(
        std::filesystem::absolute(base::follow_links(path), ignored), ignored);
  };
  const auto same_file = [&](const std::string& a, const std::string& b) {
    std::error_code ignored;
    const bool special =
        std::filesystem::exists(a, ignored) && !std::filesystem::is_regular_file(a, ignored);
    return !special && resolved(a) == resolved(b);
  };
  std::vector<std::string> paths = named;
  std::replace_if(
      paths.begin(), paths.end(),
      [](const std::string& path) { return base::named_descriptor(path) == STDOUT_FILENO; }, "-");
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = i + 1; j < paths.size(); ++j) {
      if (!paths[i].empty() && !paths[j].empty() &&
          (paths[i] == paths[j] ? paths[i] != "/dev/null" : same_file(paths[i], paths[j]))) {
        throw base::UsageError(paths[i] + ": named for two different results");
      }
    }
  }
}

}  // namespace netcl::cli
