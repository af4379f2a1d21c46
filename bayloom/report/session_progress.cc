#include "bayloom/report/session_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/report/format.h"

namespace bayloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kLine = "{:>11}  {:>10}  {:>10}  {:<52}  {:>8}  {:>12}  {:>9}";
constexpr const char* kStartOfClearedLine = "\r\x1b[K";

std::string Shortened(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

double Rate(const TaskProgress& task) {
  const double best = task.best();
  return task.work > 0 && std::isfinite(best) ? task.work / best
                                              : std::numeric_limits<double>::quiet_NaN();
}

double SecondsOfTheWhole(std::span<const TaskProgress> tasks) {
  double sum = 0;
  for (const TaskProgress& task : tasks) sum += task.weight * task.best();
  return sum;
}

/// "64/1000", or "64" where only time limits the session.
std::string Trials(const SessionStatus& status) {
  const bool limited = status.max_trials < std::numeric_limits<int64_t>::max();
  return std::to_string(status.trials) + (limited ? fmt::format("/{}", status.max_trials) : "");
}

}  // namespace

double SecondsLeft(const SessionStatus& status) {
  const double by_time = status.max_seconds - status.seconds;
  const auto left = static_cast<double>(status.max_trials - status.trials);
  const double by_trials =
      status.trials == 0 ? kInfinity : left * status.seconds / static_cast<double>(status.trials);
  return std::max(0.0, std::min(by_time, by_trials));
}

std::string ProgressHeader() {
  return fmt::format(fmt::runtime(kLine), "trials", "time", "left", "task", "best", "rate",
                     "all tasks");
}

std::string ProgressLine(const SessionStatus& status) {
  const TaskProgress& task = status.tasks[status.task];
  const std::string number = fmt::format("{}/{} ", status.task + 1, status.tasks.size());
  return fmt::format(fmt::runtime(kLine), Trials(status), FormatSeconds(std::round(status.seconds)),
                     FormatSeconds(std::round(SecondsLeft(status))),
                     number + Shortened(task.name, 52 - number.size()), FormatSeconds(task.best()),
                     FormatRate(Rate(task)), FormatSeconds(status.total_seconds));
}

Table TaskTable(std::span<const TaskProgress> tasks) {
  Table table({"task", "weight", "trials", "best", "rate", "share"});
  const double whole = SecondsOfTheWhole(tasks);
  for (const TaskProgress& task : tasks) {
    const double best = task.best();
    const double share = std::isfinite(whole) ? task.weight * best / whole : std::nan("");
    table.AddRow({task.name,
                  {task.weight, fmt::format("{:g}", task.weight)},
                  task.trials(),
                  {best, FormatSeconds(best)},
                  {Rate(task), FormatRate(Rate(task))},
                  {share, std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"}});
  }
  return table;
}

std::string SummaryLine(const SessionStatus& status) {
  const double minutes = status.seconds / 60;
  return fmt::format(
      "{} trials in {} ({:.0f} a minute), {} of them without a time; {:.0f} % of the time went "
      "into neither compiling nor measuring",
      FormatCount(status.trials), FormatSeconds(status.seconds),
      minutes > 0 ? static_cast<double>(status.trials) / minutes : 0,
      FormatCount(status.trials - status.feasible_trials), 100 * status.phases.OverheadShare());
}

ProgressPrinter::ProgressPrinter(std::FILE* out)
    : out_(out), is_terminal_(isatty(fileno(out)) == 1) {}

SessionObserver ProgressPrinter::Observer() {
  return {[this](const SessionStatus& status, const Outcome& outcome) {
            if (is_terminal_) ShowTrial(status, outcome);
          },
          [this](const SessionStatus& status) { ShowSlot(status); }};
}

void ProgressPrinter::ShowTrial(const SessionStatus& status, const Outcome& outcome) {
  const std::string answer =
      outcome.ok() ? FormatSeconds(outcome.value) : std::string(ToString(outcome.verdict));
  fmt::print(out_, "{}{}   last trial: {}", kStartOfClearedLine, ProgressLine(status), answer);
  std::fflush(out_);
}

void ProgressPrinter::ShowSlot(const SessionStatus& status) {
  if (is_terminal_) fmt::print(out_, "{}", kStartOfClearedLine);
  if (!has_header_) fmt::print(out_, "{}\n", ProgressHeader());
  has_header_ = true;
  fmt::print(out_, "{}\n", ProgressLine(status));
  std::fflush(out_);
}

}  // namespace bayloom
