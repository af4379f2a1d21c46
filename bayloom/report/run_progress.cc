#include "bayloom/report/run_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bayloom/report/format.h"

namespace bayloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMinWidth = 8;
constexpr const char* kGap = "  ";

std::string Shortened(const std::string& text, int width) {
  const auto size = static_cast<size_t>(width);
  return text.size() <= size ? text : text.substr(0, size - 2) + "..";
}

/// "64/1000", or "64" where only time limits the run.
std::string Trials(const RunStatus& status) {
  const bool limited = status.max_trials < Budget::kUnlimited;
  return std::to_string(status.trials) + (limited ? fmt::format("/{}", status.max_trials) : "");
}

ProgressColumn TrialsColumn() {
  return {"trials", 11, [](const RunStatus& status, const Outcome*) { return Trials(status); }};
}

ProgressColumn TimeColumn() {
  return {"time", 8, [](const RunStatus& status, const Outcome*) {
            return FormatSeconds(std::round(status.seconds));
          }};
}

ProgressColumn LeftColumn(const RunStatus& begin) {
  return {"left", 8, [begin](const RunStatus& status, const Outcome*) {
            return FormatSeconds(std::round(SecondsLeft(status, begin)));
          }};
}

}  // namespace

double SecondsLeft(const RunStatus& status, const RunStatus& begin) {
  double left = status.max_seconds - status.seconds;
  const auto done = static_cast<double>(status.trials - begin.trials);
  if (status.max_trials < Budget::kUnlimited) {
    const double pace = done > 0 ? (status.seconds - begin.seconds) / done : kInfinity;
    const auto open = static_cast<double>(status.max_trials - status.trials);
    left = std::min(left, open > 0 ? pace * open : 0);
  }
  return std::max(0.0, left);
}

RunProgress::RunProgress(std::FILE* out, const RunStatus& begin, ProgressOptions options)
    : line_(out), begin_(begin), options_(std::move(options)) {
  begin_.tasks = {};
  const ProgressColumn common[] = {TrialsColumn(), TimeColumn(), LeftColumn(begin_)};
  options_.columns.insert(options_.columns.begin(), std::begin(common), std::end(common));
}

std::string RunProgress::Format(const std::vector<std::string>& texts, int width) const {
  int open = width;
  for (const ProgressColumn& column : options_.columns) open -= column.width + 2;
  std::string line;
  for (size_t i = 0; i < texts.size(); ++i) {
    const int own = options_.columns[i].width;
    const int size = own > 0 ? own : std::max(kMinWidth, open);
    const std::string text = Shortened(texts[i], size);
    if (i > 0) line += kGap;
    line += own > 0 ? fmt::format("{:>{}}", text, size) : fmt::format("{:<{}}", text, size);
  }
  return line;
}

std::string RunProgress::Header(int width) const {
  std::vector<std::string> titles;
  for (const ProgressColumn& column : options_.columns) titles.push_back(column.title);
  return Format(titles, width);
}

std::string RunProgress::Line(const RunStatus& status, const Outcome* outcome, int width) const {
  std::vector<std::string> texts;
  for (const ProgressColumn& column : options_.columns) {
    texts.push_back(column.text(status, outcome));
  }
  return Format(texts, width);
}

void RunProgress::Keep(const RunStatus& status, const Outcome* outcome) {
  if (!std::exchange(has_header_, true)) line_.Keep(Header(line_.width()));
  line_.Keep(Line(status, outcome, line_.width()));
}

void RunProgress::Trial(const RunStatus& status, const Outcome& outcome) {
  if (options_.is_news(status)) {
    Keep(status, &outcome);
  } else if (line_.IsDue()) {
    line_.Show(Line(status, &outcome, line_.width()));
  }
}

void RunProgress::Slot(const RunStatus& status) {
  if (options_.keep_slots) Keep(status, nullptr);
}

RunObserver RunProgress::Observer() {
  return {[this](const RunStatus& status, const Outcome& outcome) { Trial(status, outcome); },
          [this](const RunStatus& status) { Slot(status); }};
}

}  // namespace bayloom
