// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: a bar on a terminal, JSON lines for programs, nothing otherwise.
#ifndef NETCL_TOOLS_CLI_PROGRESS_REPORT_H_
#define NETCL_TOOLS_CLI_PROGRESS_REPORT_H_

#include <chrono>
#include <string>

#include "base/progress.h"

namespace netcl::cli {

enum class ProgressMode { kAuto, kBar, kJson, kNone };

// One object per run. kAuto is kBar on a terminal that is not TERM=dumb, else kNone. kBar rewrites
// one line with carriage returns on such a terminal; elsewhere it writes whole lines, at most one a
// second, so that a log never holds a control byte. The bar shows the rate of the last seconds and,
// when the total is known, the time that is left at that rate. kJson writes
// {"phase":"merge","unit":"merges","done":10,"total":100} lines; total is null when unknown; a
// second unit is one more member, such as "words":3.
class ProgressReport {
 public:
  explicit ProgressReport(ProgressMode mode);
  // Ends the bar's line.
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;
  ProgressReport& operator=(const ProgressReport&) = delete;

  // The callback for the library; empty when nothing is to be shown. Refers to this object.
  base::ProgressFn callback();
  // Erases the bar, so that other text can be written to the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void report(const base::Progress& progress);
  void update_rates(const base::Progress& progress, Clock::time_point now);
  void write_bar(const base::Progress& progress);
  void write_json(const base::Progress& progress);

  ProgressMode mode_;
  bool rewrite_line_ = false;
  size_t shown_width_ = 0;
  std::string phase_;
  bool phase_finished_ = false;
  Clock::time_point last_report_;
  // Where the rates were measured from, and the rates in units a second; 0 when not yet known.
  Clock::time_point rated_at_;
  uint64_t rated_done_ = 0;
  uint64_t rated_also_done_ = 0;
  double rate_ = 0;
  double also_rate_ = 0;
};

// Share of the work done in whole percent, never above 100; 100 only when all is done.
unsigned percent_done(uint64_t done, uint64_t total);

// A number of at least 0, rounded to about three digits, and the letter of its power of 1000: "0",
// "999", "12.3 k", "205 M".
std::string short_number(double value);

// Seconds as m:ss or h:mm:ss, rounded up; "" for less than none or more than 1000 hours.
std::string short_time(double seconds);

// The text of the bar; rates in units a second, 0 when not known.
std::string progress_line(const base::Progress& progress, double rate, double also_rate);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_PROGRESS_REPORT_H_
