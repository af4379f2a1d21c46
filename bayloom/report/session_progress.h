#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "bayloom/report/table.h"
#include "bayloom/tuning/session.h"

namespace bayloom {

/// One line for people about where a session stands, under `ProgressHeader`: trials done, time
/// spent and left, the task whose turn it was with its best program, and all tasks together.
std::string ProgressHeader();
std::string ProgressLine(const SessionStatus& status);

/// Seconds until the first budget is used up if trials go on as fast as so far; infinity while
/// nothing is known.
double SecondsLeft(const SessionStatus& status);

/// The tasks of a session with weight, trials, best program and share of the whole's time.
Table TaskTable(std::span<const TaskProgress> tasks);
/// How many trials in what time, and how much of it went into something else.
std::string SummaryLine(const SessionStatus& status);

/// Follows a session: one line after every slot and, on a terminal, a last line that changes with
/// every trial. The printer must outlive the observer.
class ProgressPrinter {
 public:
  explicit ProgressPrinter(std::FILE* out);
  SessionObserver Observer();

 private:
  void ShowTrial(const SessionStatus& status, const Outcome& outcome);
  void ShowSlot(const SessionStatus& status);

  std::FILE* out_;
  bool is_terminal_;
  bool has_header_ = false;
};

}  // namespace bayloom
