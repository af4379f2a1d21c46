// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "bayloom/base/clock.h"
#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom::report {
namespace {

constexpr const char* kStartOfClearedLine = "\r\x1b[K";
/// Seconds between two texts on a terminal, and in a log.
constexpr double kTerminalInterval = 0.1, kLogInterval = 30;
constexpr int kDefaultWidth = 80;

}  // namespace

StatusLine::StatusLine(std::FILE* out)
    : out_(out), is_terminal_(isatty(fileno(out)) == 1), shown_at_(base::MonotonicSeconds()) {}

StatusLine::~StatusLine() { Clear(); }

int StatusLine::width() const {
  winsize size = {};
  if (!is_terminal_) return 0;
  const bool is_known = ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kDefaultWidth;
}

bool StatusLine::IsDue() const {
  return base::MonotonicSeconds() - shown_at_ >= (is_terminal_ ? kTerminalInterval : kLogInterval);
}

void StatusLine::Show(const std::string& text) {
  if (!IsDue()) return;
  shown_at_ = base::MonotonicSeconds();
  if (is_terminal_) {
    // The last column stays free: terminals differ in what they do after it.
    base::WriteIfPossible(out_, kStartOfClearedLine + text.substr(0, width() - 1));
  } else {
    base::WriteIfPossible(out_, text + "\n");
  }
}

void StatusLine::Keep(const std::string& text) {
  Clear();
  shown_at_ = base::MonotonicSeconds();
  base::WriteIfPossible(out_, text + "\n");
}

void StatusLine::Clear() {
  if (!is_terminal_) return;
  base::WriteIfPossible(out_, kStartOfClearedLine);
}

}  // namespace bayloom::report
