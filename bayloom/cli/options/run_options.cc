// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/run_options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "bayloom/base/duration.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"
#include "bayloom/cli/help.h"
#include "bayloom/scheduling/default_scheduler.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::cli {

void AddSchedulerOption(CLI::App& command, std::string& scheduler, const std::string& description) {
  OneOf(Advanced(command.add_option("--scheduler", scheduler, description)
                     ->option_text("NAME")
                     ->default_str(scheduling::kDefaultScheduler)),
        scheduling::TaskSchedulers());
}

bool StopSeen() {
  if (!base::StopRequested()) return false;
  base::NoticeStop();
  return true;
}

trial::Budget MakeBudget(std::optional<int64_t> trials, const std::string& time) {
  base::CatchStopSignals("stopped; what was recorded is kept, and --resume goes on from there\n");
  trial::Budget budget;
  if (trials) budget.trials = *trials;
  if (!time.empty()) budget.seconds = base::ParseDuration(time, "--time");
  budget.stop = StopSeen;
  return budget;
}

double ParseGainRate(const std::string& text, const std::string& name) {
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  std::string_view rest(used, static_cast<size_t>(end - used));
  double seconds = 60;
  bool is_rate = error == std::errc() && percent > 0 && rest.starts_with('%');
  if (is_rate && rest.size() > 1) {
    const std::string_view unit = rest.substr(std::min<size_t>(2, rest.size()));
    const Result<double> duration = base::ParseDuration(fmt::format("1{}", unit));
    is_rate = rest[1] == '/' && !unit.empty() && std::isalpha(unit[0]) && duration.ok();
    if (is_rate) seconds = *duration;
  }
  const double share = percent / 100 * 60 / seconds;
  if (!is_rate || !std::isfinite(share)) {
    throw InputError(fmt::format("{}: '{}' is not a rate; write 0.5%/min or 10%/h", name,
                                 base::SingleLine(text)));
  }
  return share;
}

std::string DescribeEnd(trial::StopReason reason) {
  return std::string(trial::Describe(reason)) +
         (trial::CanResume(reason) ? "; --resume goes on from here" : "");
}

void ThrowIfLost(trial::StopReason reason, const std::string& lost) {
  if (reason != trial::StopReason::kLost) return;
  throw SystemError("trials cannot be carried out: " + lost);
}

}  // namespace bayloom::cli
