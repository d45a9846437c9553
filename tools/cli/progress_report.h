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
// second, so that a log never holds a control byte. kJson writes
// {"phase":"merge","unit":"merges","done":10,"total":100} lines; total is null when unknown.
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
  void report(const base::Progress& progress);
  void write_bar(const base::Progress& progress);
  void write_json(const base::Progress& progress);

  ProgressMode mode_;
  bool rewrite_line_ = false;
  size_t shown_width_ = 0;
  std::string phase_;
  bool phase_finished_ = false;
  std::chrono::steady_clock::time_point last_report_;
};

// Share of the work done in whole percent, never above 100; 100 only when all is done.
unsigned percent_done(uint64_t done, uint64_t total);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_PROGRESS_REPORT_H_
