#include "bayloom/report/search_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/report/format.h"

namespace bayloom {
namespace {

constexpr const char* kLine = "{:>11}  {:>10}  {:>10}  {:>6}  {:>14}  {:>14}";
constexpr const char* kStartOfClearedLine = "\r\x1b[K";
/// Seconds between lines while nothing gets better and nobody watches a terminal.
constexpr double kSilence = 30;

}  // namespace

double SecondsLeft(const Search& search, const SearchLimits& limits, int64_t first_trial,
                   double first_elapsed) {
  double left = std::numeric_limits<double>::infinity();
  if (limits.seconds) left = *limits.seconds - search.elapsed();
  const auto done = static_cast<double>(search.trials() - first_trial);
  if (limits.trials && done > 0) {
    const double pace = (search.elapsed() - first_elapsed) / done;
    left = std::min(left, pace * static_cast<double>(*limits.trials - search.trials()));
  }
  return std::max(0.0, left);
}

SearchProgress::SearchProgress(std::FILE* out, const Search& search, const SearchLimits& limits,
                               std::string objective)
    : out_(out),
      search_(search),
      limits_(limits),
      objective_(std::move(objective)),
      is_terminal_(isatty(fileno(out)) == 1),
      first_trial_(search.trials()),
      first_elapsed_(search.elapsed()),
      shown_best_(search.best() ? search.best()->ordinal : -1),
      shown_at_(search.elapsed()) {}

std::string SearchProgress::Line() const {
  const std::optional<SearchTrial>& best = search_.best();
  const Outcome& last = search_.last()->outcome;
  const std::string trials =
      fmt::format("{}{}", search_.trials(),
                  limits_.trials ? fmt::format("/{}", *limits_.trials) : std::string());
  return fmt::format(
      fmt::runtime(kLine), trials, FormatSeconds(std::round(search_.elapsed())),
      FormatSeconds(std::round(SecondsLeft(search_, limits_, first_trial_, first_elapsed_))),
      search_.trials() - search_.feasible_trials(),
      last.ok() ? FormatValue(last.value) : std::string(ToString(last.verdict)),
      best ? FormatValue(best->outcome.value) : "-");
}

void SearchProgress::Trial() {
  const int64_t best = search_.best() ? search_.best()->ordinal : -1;
  const bool is_due = search_.elapsed() - shown_at_ > kSilence;
  const bool lasts = best != shown_best_ || (!is_terminal_ && is_due);
  if (is_terminal_) fmt::print(out_, "{}", kStartOfClearedLine);
  if (lasts && !has_header_) {
    fmt::print(out_, fmt::runtime(std::string(kLine) + "\n"), "trials", "time", "left", "failed",
               "last", objective_.substr(0, 14));
    has_header_ = true;
  }
  if (lasts || is_terminal_) fmt::print(out_, "{}{}", Line(), lasts ? "\n" : "");
  if (lasts) {
    shown_best_ = best;
    shown_at_ = search_.elapsed();
  }
  std::fflush(out_);
}

void SearchProgress::End() {
  if (is_terminal_) fmt::print(out_, "{}", kStartOfClearedLine);
}

}  // namespace bayloom
