// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/run_journal.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bayloom/base/json.h"

namespace bayloom::accelerator {
namespace {

std::optional<record::RunRecord> LastLike(const record::RunRecord& wanted, record::Store& store) {
  std::optional<record::RunRecord> last;
  for (record::RunRecord& run : store.Runs(wanted.kind)) {
    const bool is_same = run.name == wanted.name && run.objective == wanted.objective &&
                         run.definition == wanted.definition;
    if (is_same) last = std::move(run);
  }
  return last;
}

}  // namespace

RunJournal::RunJournal(const std::string& database, const record::RunRecord& wanted, bool resume)
    : store_(database),
      run_(store_, wanted, resume ? LastLike(wanted, store_) : std::nullopt),
      trials_(run_.Trials()) {}

void RunJournal::KeepResult(const std::vector<std::string>& layer_runs, const std::string& result) {
  nlohmann::json state = {{"layers", layer_runs}};
  if (!result.empty()) state["result"] = base::ParseJsonOrDiscard(result);
  store_.SaveState(run_.record().id, state.dump(), {});
}

void RunJournal::End(trial::StopReason reason) {
  trials_->Flush();
  run_.End(reason);
}

}  // namespace bayloom::accelerator
