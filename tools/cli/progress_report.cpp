// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace netcl::cli {

namespace {

constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::milliseconds kLineInterval{1000};
constexpr unsigned kBarWidth = 30;

bool terminal_takes_carriage_returns() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

void write_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

unsigned percent_done(uint64_t done, uint64_t total) {
  if (total == 0 || done >= total) {
    return 100;
  }
  return std::min(
      99u, static_cast<unsigned>(100.0 * static_cast<double>(done) / static_cast<double>(total)));
}

ProgressReport::ProgressReport(ProgressMode mode) : mode_(mode) {
  rewrite_line_ = terminal_takes_carriage_returns();
  if (mode_ == ProgressMode::kAuto) {
    mode_ = rewrite_line_ ? ProgressMode::kBar : ProgressMode::kNone;
  }
}

ProgressReport::~ProgressReport() {
  clear();
}

base::ProgressFn ProgressReport::callback() {
  if (mode_ == ProgressMode::kNone) {
    return {};
  }
  return [this](const base::Progress& progress) { report(progress); };
}

void ProgressReport::clear() {
  if (rewrite_line_ && shown_width_ > 0) {
    std::string blanks(1, '\r');
    blanks.append(shown_width_, ' ');
    blanks += '\r';
    write_stderr(blanks);
    shown_width_ = 0;
  }
}

void ProgressReport::report(const base::Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  const bool new_phase = progress.phase != phase_;
  const bool finished = progress.total > 0 && progress.done >= progress.total;
  const bool just_finished = finished && (new_phase || !phase_finished_);
  const auto interval =
      mode_ == ProgressMode::kJson || rewrite_line_ ? kTerminalInterval : kLineInterval;
  if (!new_phase && !just_finished && now - last_report_ < interval) {
    return;
  }
  last_report_ = now;
  phase_ = progress.phase;
  phase_finished_ = finished;
  if (mode_ == ProgressMode::kJson) {
    write_json(progress);
  } else {
    write_bar(progress);
  }
}

void ProgressReport::write_json(const base::Progress& progress) {
  // Phase and unit are words of the library; no escaping is needed.
  std::string line = "{\"phase\":\"";
  line += progress.phase;
  line += "\",\"unit\":\"";
  line += progress.unit;
  line += "\",\"done\":";
  line += std::to_string(progress.done);
  line += ",\"total\":";
  line += progress.total == 0 ? std::string("null") : std::to_string(progress.total);
  line += "}\n";
  write_stderr(line);
}

void ProgressReport::write_bar(const base::Progress& progress) {
  std::string line;
  line += progress.phase;
  if (progress.total > 0) {
    const unsigned percent = percent_done(progress.done, progress.total);
    const unsigned filled = percent * kBarWidth / 100;
    line += " [";
    line.append(filled, '#');
    line.append(kBarWidth - filled, '.');
    line += "] ";
    line += std::to_string(percent);
    line += " % of ";
    line += std::to_string(progress.total);
  } else {
    line += ' ';
    line += std::to_string(progress.done);
  }
  line += ' ';
  line += progress.unit;
  if (!rewrite_line_) {
    line += '\n';
    write_stderr(line);
    return;
  }
  const size_t width = line.size();
  if (width < shown_width_) {
    line.append(shown_width_ - width, ' ');
  }
  shown_width_ = width;
  line.insert(line.begin(), '\r');
  write_stderr(line);
}

}  // namespace netcl::cli
