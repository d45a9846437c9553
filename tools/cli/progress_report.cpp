// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace netcl::cli {

namespace {

constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::milliseconds kLineInterval{1000};
constexpr unsigned kBarWidth = 16;  // leaves room for the figures in 80 columns
constexpr double kRateSeconds = 3;  // the rate shown is that of about so long

bool terminal_takes_carriage_returns() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

// "12.3 MB", "12.3 k merges"
std::string with_unit(double value, std::string_view unit) {
  const std::string number = short_number(value);
  if (unit != "bytes") {
    return number + " " + std::string(unit);
  }
  return number + (number.find(' ') == std::string::npos ? " B" : "B");
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

std::string short_number(double value) {
  constexpr std::array<const char*, 7> kPowers = {"", " k", " M", " G", " T", " P", " E"};
  size_t power = 0;
  // 999.5 would be rounded to four digits.
  while (value >= 999.5 && power + 1 < kPowers.size()) {
    value /= 1000;
    ++power;
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, power > 0 && value < 99.95 ? "%.1f" : "%.0f", value);
  return std::string(digits) + kPowers[power];
}

std::string short_time(double seconds) {
  constexpr double kMost = 3600.0 * 1000;
  if (!(seconds >= 0) || seconds > kMost) {
    return "";
  }
  const unsigned all = static_cast<unsigned>(std::ceil(seconds));
  char text[32];
  if (all >= 3600) {
    std::snprintf(text, sizeof text, "%u:%02u:%02u", all / 3600, all / 60 % 60, all % 60);
  } else {
    std::snprintf(text, sizeof text, "%u:%02u", all / 60, all % 60);
  }
  return text;
}

std::string progress_line(const base::Progress& progress, double rate, double also_rate) {
  std::string line(progress.phase);
  if (progress.total > 0) {
    const unsigned percent = percent_done(progress.done, progress.total);
    const unsigned filled = percent * kBarWidth / 100;
    line += " [";
    line.append(filled, '#');
    line.append(kBarWidth - filled, '.');
    line += "] ";
    line += std::to_string(percent);
    line += " % of ";
    line += with_unit(static_cast<double>(progress.total), progress.unit);
  } else {
    line += ' ';
    line += with_unit(static_cast<double>(progress.done), progress.unit);
  }
  if (rate > 0) {
    line += ", " + with_unit(rate, progress.unit) + "/s";
    if (also_rate > 0) {
      line += ", " + with_unit(also_rate, progress.also_unit) + "/s";
    }
    const std::string left =
        progress.total > progress.done
            ? short_time(static_cast<double>(progress.total - progress.done) / rate)
            : "";
    line += left.empty() ? "" : ", " + left + " left";
  }
  return line;
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
  const Clock::time_point now = Clock::now();
  const bool new_phase = progress.phase != phase_;
  const bool finished = progress.total > 0 && progress.done >= progress.total;
  const bool just_finished = finished && (new_phase || !phase_finished_);
  const auto interval =
      mode_ == ProgressMode::kJson || rewrite_line_ ? kTerminalInterval : kLineInterval;
  if (!new_phase && !just_finished && now - last_report_ < interval) {
    return;
  }
  if (new_phase) {
    rated_at_ = now;
    rated_done_ = progress.done;
    rated_also_done_ = progress.also_done;
    rate_ = also_rate_ = 0;
  } else {
    update_rates(progress, now);
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

// The average of all that was seen, in which what is older than kRateSeconds soon counts little.
void ProgressReport::update_rates(const base::Progress& progress, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - rated_at_).count();
  if (seconds <= 0 || progress.done < rated_done_ || progress.also_done < rated_also_done_) {
    return;
  }
  const double share = rate_ == 0 ? 1 : 1 - std::exp(-seconds / kRateSeconds);
  rate_ += share * (static_cast<double>(progress.done - rated_done_) / seconds - rate_);
  also_rate_ +=
      share * (static_cast<double>(progress.also_done - rated_also_done_) / seconds - also_rate_);
  rated_at_ = now;
  rated_done_ = progress.done;
  rated_also_done_ = progress.also_done;
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
  if (!progress.also_unit.empty()) {
    line += ",\"";
    line += progress.also_unit;
    line += "\":";
    line += std::to_string(progress.also_done);
  }
  line += "}\n";
  write_stderr(line);
}

void ProgressReport::write_bar(const base::Progress& progress) {
  std::string line = progress_line(progress, rate_, also_rate_);
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
