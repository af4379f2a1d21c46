// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdio>
#include <string>

namespace bayloom::report {

/// Draws the progress of long work: on a terminal one line that is written over and clipped to the
/// terminal's width, elsewhere (a log file) lines of their own and no control codes.
class StatusLine {
 public:
  explicit StatusLine(std::FILE* out);
  /// Clears the terminal's line.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// May be called as often as there is news: on a terminal ten a second are shown, in a log one
  /// every half minute.
  void Show(const std::string& text);
  /// A line that stays.
  void Keep(const std::string& text);
  /// Whether the next Show would show something.
  bool IsDue() const;
  /// Clears the changing line.
  void Clear();

  /// Columns of the terminal; 0 where there is none, for a log has no width.
  int width() const;

 private:
  std::FILE* out_;
  bool is_terminal_;
  double shown_at_;
};

}  // namespace bayloom::report
