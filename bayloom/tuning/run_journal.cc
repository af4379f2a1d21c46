// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/run_journal.h"

#include <optional>
#include <utility>

namespace bayloom::tuning {

RunJournal::RunJournal(const std::string& database, const record::RunRecord& wanted, bool resume)
    : store_(database) {
  std::optional<record::RunRecord> last;
  for (record::RunRecord& run : store_.Runs(wanted.kind)) {
    const bool is_same = resume && run.name == wanted.name && run.objective == wanted.objective &&
                         run.definition == wanted.definition;
    if (is_same) last = std::move(run);
  }
  run_ = last ? last->id : store_.BeginRun(wanted).id;
  if (last) {
    store_.SetFinished(run_, false);
    earlier_ = store_.TrialsOfRun(run_);
  }
  trials_ = std::make_unique<record::RunTrials>(
      store_, std::make_shared<record::RunOrdinals>(store_, run_));
}

}  // namespace bayloom::tuning
