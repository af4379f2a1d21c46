// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "bayloom/base/clock.h"

namespace bayloom::measure {

/// Who used the processors over some time, in processors.
struct MachineLoad {
  int processors = 0;  ///< that this process may run on
  double others = 0;   ///< of those, used by processes that are not this one or its descendants
  double stolen = 0;   ///< of those, withheld by the host of this virtual machine
};

/// Whether a program of so many threads has to share its processors under this load.
bool IsBusy(const MachineLoad& load, int threads);
/// "the machine is busy: other processes use 1.3 of its 2 cores; times will be noisy".
std::string DescribeBusy(const MachineLoad& load);
/// The same of the past: "the machine was busy: other processes used ...; the times are noisy".
std::string DescribeWasBusy(const MachineLoad& load);

/// The same of the time when the machine was measured: "the machine was busy while it was measured:
/// other processes used ...".
std::string DescribeMeasuredBusy(const MachineLoad& load);

struct LoadMonitorOptions {
  int threads = 1;                ///< that the timed programs use
  std::set<int> processors = {};  ///< empty: those that this process may run on
  std::string proc = "/proc";     ///< see proc(5)
  std::function<double()> clock = base::MonotonicSeconds;  ///< seconds
};

/// Notices that other processes disturb measurements. What this process and its descendants do,
/// such as compiling, is not counted.
///
///     LoadMonitor monitor({.threads = 1});
///     while (Measure()) {
///       if (monitor.Look()) Warn(DescribeBusy(monitor.last()));
///     }
///     if (monitor.WasMostlyBusy()) Warn(DescribeWasBusy(monitor.Average()));
///
/// Where the system does not say who uses the processors, nothing is ever noticed.
class LoadMonitor {
 public:
  explicit LoadMonitor(LoadMonitorOptions options);

  /// Looks if the last look was five seconds ago, the first half a second. True the first time that
  /// the machine is busy.
  bool Look();
  /// Between the last two looks.
  const MachineLoad& last() const { return last_; }
  /// From when it was made to the last look.
  MachineLoad Average() const;
  /// From when it was made to now, for what takes some tenths of a second.
  MachineLoad SinceBegin() const;
  /// Whether the machine was busy at half of the looks or more, and is so on average.
  bool WasMostlyBusy() const;

 private:
  /// Seconds of processor time so far, times the clock's ticks.
  struct Usage {
    double all = 0;  ///< of the processors, idle or not
    double busy = 0;
    double stolen = 0;
    double own = 0;
  };
  std::optional<Usage> Read() const;
  MachineLoad Between(const Usage& begin, const Usage& end) const;

  LoadMonitorOptions options_;
  double looked_at_;
  std::optional<Usage> first_;
  std::optional<Usage> latest_;
  MachineLoad last_;
  int looks_ = 0;
  int busy_looks_ = 0;
};

/// Whether a program of so many threads would have to share its processors: looks for a third of a
/// second.
bool IsBusyNow(int threads);

}  // namespace bayloom::measure
