// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/base/utf8.h"
#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr int kMinWidth = 8;
/// What columns are aligned to where lines may be longer.
constexpr int kLogWidth = 100;
constexpr const char* kGap = "  ";
constexpr size_t kMaxLogText = 1000;

/// In one line of `width` columns at most; without its middle if it is too long, as names of tasks
/// are told apart by their ends.
std::string Shortened(const std::string& text, int width) {
  const std::string line = base::SingleLine(text, kMaxLogText);
  const size_t characters = base::CountUtf8Characters(line), most = static_cast<size_t>(width);
  if (characters <= most) return line;
  const size_t left = most / 3, right = most - left - 2;
  std::string begin, end;
  size_t place = 0;
  for (std::string_view rest = line; !rest.empty(); ++place) {
    const std::string_view next = rest.substr(0, base::Utf8CharacterLength(rest));
    if (place < left) begin += next;
    if (place >= characters - right) end += next;
    rest.remove_prefix(next.size());
  }
  return begin + ".." + end;
}

/// "64/1000", or "64" where only time limits the run.
std::string Trials(const run::RunStatus& status) {
  const bool limited = status.max_trials < trial::Budget::kUnlimited;
  return std::to_string(status.trials) + (limited ? fmt::format("/{}", status.max_trials) : "");
}

ProgressColumn TrialsColumn() {
  return {"trials", 9,
          [](const run::RunStatus& status, const trial::Outcome*) { return Trials(status); }};
}

ProgressColumn TimeColumn() {
  return {"time", 10, [](const run::RunStatus& status, const trial::Outcome*) {
            return FormatSeconds(std::round(status.seconds));
          }};
}

ProgressColumn LeftColumn(const run::RunStatus& begin) {
  return {"left", 10, [begin](const run::RunStatus& status, const trial::Outcome*) {
            return FormatSeconds(std::round(SecondsLeft(status, begin)));
          }};
}

}  // namespace

double SecondsLeft(const run::RunStatus& status, const run::RunStatus& begin) {
  double left = status.max_seconds - status.seconds;
  const auto done = static_cast<double>(status.trials - begin.trials);
  if (status.max_trials < trial::Budget::kUnlimited) {
    const double pace = done > 0 ? (status.seconds - begin.seconds) / done : kEndless;
    const auto open = static_cast<double>(status.max_trials - status.trials);
    left = std::min(left, open > 0 ? pace * open : 0);
  }
  return std::max(0.0, left);
}

RunProgress::RunProgress(std::FILE* out, const run::RunStatus& begin, ProgressOptions options)
    : line_(out), begin_(begin), options_(std::move(options)) {
  begin_.tasks = {};
  const ProgressColumn common[] = {TrialsColumn(), TimeColumn(), LeftColumn(begin_)};
  options_.columns.insert(options_.columns.begin(), std::begin(common), std::end(common));
}

std::string RunProgress::Format(const std::vector<std::string>& texts, int width) const {
  const bool is_log = width == 0;
  int open = is_log ? kLogWidth : width;
  for (const ProgressColumn& column : options_.columns) open -= column.width + 2;
  std::string line;
  for (size_t i = 0; i < texts.size(); ++i) {
    const int own = options_.columns[i].width;
    const int size = own > 0 ? own : std::max(kMinWidth, open);
    const std::string text =
        is_log ? base::SingleLine(texts[i], kMaxLogText) : Shortened(texts[i], size);
    if (i > 0) line += kGap;
    const size_t characters = base::CountUtf8Characters(text), most = static_cast<size_t>(size);
    const std::string filling(most - std::min(most, characters), ' ');
    line += own > 0 ? filling + text : text + filling;
  }
  return line;
}

std::string RunProgress::Header(int width) const {
  std::vector<std::string> titles;
  for (const ProgressColumn& column : options_.columns) titles.push_back(column.title);
  return Format(titles, width);
}

std::string RunProgress::Line(const run::RunStatus& status, const trial::Outcome* outcome,
                              int width) const {
  std::vector<std::string> texts;
  for (const ProgressColumn& column : options_.columns) {
    texts.push_back(column.text(status, outcome));
  }
  return Format(texts, width);
}

void RunProgress::Keep(const run::RunStatus& status, const trial::Outcome* outcome) {
  BeginWithHeader();
  line_.Keep(Line(status, outcome, line_.width()));
}

void RunProgress::BeginWithHeader() {
  if (!std::exchange(has_header_, true)) line_.Keep(Header(line_.width()));
}

void RunProgress::Trial(const run::RunStatus& status, const trial::Outcome& outcome) {
  if (options_.is_news(status)) {
    Keep(status, &outcome);
  } else if (line_.IsDue()) {
    BeginWithHeader();
    line_.Show(Line(status, &outcome, line_.width()));
  }
}

void RunProgress::Slot(const run::RunStatus& status) {
  // While tasks open, each with a trial or two, a line for each says little.
  if (options_.keep_slots && scheduling::CountEstimated(status.tasks) == 0) Keep(status, nullptr);
}

run::RunObserver RunProgress::Observer() {
  return {[this](const run::RunStatus& status, const trial::Outcome& outcome) {
            Trial(status, outcome);
          },
          [this](const run::RunStatus& status) { Slot(status); },
          [this](const std::string& text) { Notice(text); }};
}

}  // namespace bayloom::report
