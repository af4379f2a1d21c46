// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/recorded_run.h"

#include <utility>

namespace bayloom::record {

RecordedRun::RecordedRun(Store& store, RunRecord wanted, std::optional<RunRecord> last)
    : store_(&store),
      resumed_(last.has_value()),
      is_open_(!resumed_),
      record_(last ? *std::move(last) : store.BeginRun(std::move(wanted))),
      ordinals_(std::make_shared<RunOrdinals>(store, record_.id)) {}

std::vector<StoredTrial> RecordedRun::Earlier() const {
  return resumed_ ? store_->TrialsOfRun(record_.id) : std::vector<StoredTrial>();
}

std::unique_ptr<RunTrials> RecordedRun::Trials(RunTrialsOptions options) {
  if (!is_open_) store_->SetFinished(record_.id, false);
  is_open_ = true;
  return std::make_unique<RunTrials>(*store_, ordinals_, options);
}

void RecordedRun::End(trial::StopReason reason) {
  if (!trial::CanResume(reason)) Finish();
}

}  // namespace bayloom::record
