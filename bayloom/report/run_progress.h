// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bayloom/report/status_line.h"
#include "bayloom/run/run_state.h"

namespace bayloom::report {

/// Seconds until the first budget is used up if trials go on as fast as since `begin`, where this
/// process took the run up; infinity while nothing is known.
double SecondsLeft(const run::RunStatus& status, const run::RunStatus& begin);

/// A column of a run's progress beside the trials, the time spent and the time left that all have.
struct ProgressColumn {
  std::string title;
  /// Characters; 0: what the others leave of the line. Longer texts are shortened.
  int width = 0;
  /// What it says of a status; the outcome is that of the last trial, null at the end of a slot.
  std::function<std::string(const run::RunStatus&, const trial::Outcome*)> text;
};

struct ProgressOptions {
  std::vector<ProgressColumn> columns;
  /// Whether a line is to stay that was written after a trial, such as for a new best.
  std::function<bool(const run::RunStatus&)> is_news = [](const run::RunStatus&) { return false; };
  /// Whether a line stays at the end of every slot.
  bool keep_slots = false;
};

/// Follows a run, for people: a header, lines that stay, and on a terminal a last line that changes
/// with every trial; in a log a line every half minute if none stayed.
class RunProgress {
 public:
  /// `begin`: where this process takes the run up.
  RunProgress(std::FILE* out, const run::RunStatus& begin, ProgressOptions options);

  void Trial(const run::RunStatus& status, const trial::Outcome& outcome);
  void Slot(const run::RunStatus& status);
  void Notice(const std::string& text) { line_.Keep(text); }
  /// Calls the three; this must outlive it.
  run::RunObserver Observer();
  /// A line about something else, which stays.
  void Note(const std::string& text) { line_.Keep(text); }
  /// What is done between trials, in the changing line.
  void Activity(const std::string& text) { line_.Show(text); }
  /// Clears the changing line.
  void End() { line_.Clear(); }

  // As written for a line of so many characters; 0: in a log, where nothing is shortened.
  std::string Header(int width) const;
  std::string Line(const run::RunStatus& status, const trial::Outcome* outcome, int width) const;

 private:
  std::string Format(const std::vector<std::string>& texts, int width) const;
  void Keep(const run::RunStatus& status, const trial::Outcome* outcome);
  void BeginWithHeader();

  StatusLine line_;
  run::RunStatus begin_;
  ProgressOptions options_;
  bool has_header_ = false;
};

}  // namespace bayloom::report
