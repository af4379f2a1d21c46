// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/run_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"

namespace bayloom::record {

RunTrials::RunTrials(Store& store, std::shared_ptr<RunOrdinals> ordinals, RunTrialsOptions options)
    : store_(store),
      ordinals_(std::move(ordinals)),
      options_(options),
      written_(base::MonotonicSeconds()) {}

RunTrials::~RunTrials() {
  try {
    Flush();
  } catch (const std::exception&) {
    // A resumed run tries again what is not durable.
  }
}

void RunTrials::Add(const trial::TrialRecord& trial) {
  StoredTrial& held = held_.emplace_back();
  static_cast<trial::TrialRecord&>(held) = trial;
  held.run = ordinals_->run();
  held.task = options_.task;
  held.target = options_.target;
  if (held.timestamp == 0) held.timestamp = base::UnixMicroseconds();
  if (base::MonotonicSeconds() - written_ >= options_.hold_seconds) Flush();
}

void RunTrials::Flush() {
  if (held_.empty()) return;
  const int64_t added = store_.AddTrials(held_, ordinals_->next());
  ordinals_->Advance(added);
  written_ = base::MonotonicSeconds();
  const std::vector<StoredTrial> written = std::exchange(held_, {});
  const auto known = std::ssize(written) - added;
  const auto without_key = std::ranges::count(written, uint64_t{0}, &StoredTrial::key);
  if (known > without_key) {
    throw InputError(
        fmt::format("{}: run {} has a trial of the same program already: is it running twice?",
                    store_.path(), ordinals_->run()));
  }
}

}  // namespace bayloom::record
