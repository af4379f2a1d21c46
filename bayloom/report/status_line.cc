#include "bayloom/report/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "bayloom/base/clock.h"

namespace bayloom {
namespace {

constexpr const char* kStartOfClearedLine = "\r\x1b[K";
/// Seconds between two texts on a terminal, and in a log.
constexpr double kBlink = 0.1, kSilence = 30;

}  // namespace

StatusLine::StatusLine(std::FILE* out)
    : out_(out), is_terminal_(isatty(fileno(out)) == 1), shown_at_(MonotonicSeconds()) {}

StatusLine::~StatusLine() {
  if (is_terminal_) fmt::print(out_, "{}", kStartOfClearedLine);
}

void StatusLine::Show(const std::string& text) {
  const double now = MonotonicSeconds();
  if (now - shown_at_ < (is_terminal_ ? kBlink : kSilence)) return;
  shown_at_ = now;
  fmt::print(out_, "{}{}{}", is_terminal_ ? kStartOfClearedLine : "", text,
             is_terminal_ ? "" : "\n");
  std::fflush(out_);
}

void StatusLine::Keep(const std::string& text) {
  shown_at_ = MonotonicSeconds();
  fmt::print(out_, "{}{}\n", is_terminal_ ? kStartOfClearedLine : "", text);
  std::fflush(out_);
}

}  // namespace bayloom
