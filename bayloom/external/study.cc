// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/external/study.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/space/configuration_json.h"

namespace bayloom::external {

Study::Study(const Scenario& scenario, std::unique_ptr<optimizer::Optimizer> optimizer,
             trial::TrialStore* store)
    : space_(scenario.space),
      maximize_(scenario.maximize),
      first_(scenario.default_configuration),
      proposer_(scenario.optimizer),
      optimizer_(std::move(optimizer)),
      store_(store) {}

std::vector<space::Configuration> Study::Ask(int n) {
  std::vector<space::Configuration> asked;
  const auto add = [&](const space::Configuration& configuration) {
    const bool is_new = !told_.contains(configuration) && asked_.insert(configuration).second;
    if (is_new) asked.push_back(configuration);
    return is_new;
  };
  if (n > 0 && first_) add(*std::exchange(first_, std::nullopt));
  bool is_exhausted = false;
  while (!is_exhausted && static_cast<int>(asked.size()) < n) {
    is_exhausted = true;
    // The optimizer may choose the default itself while that is still being evaluated.
    for (const space::Configuration& choice : optimizer_->Ask(n - static_cast<int>(asked.size()))) {
      add(choice);
      is_exhausted = false;
    }
  }
  return asked;
}

bool Study::Tell(const space::Configuration& configuration, const trial::Outcome& outcome,
                 double elapsed) {
  if (told_.contains(configuration)) return false;
  if (store_ != nullptr) {
    trial::TrialRecord record = RecordOf(configuration);
    record.outcome = outcome;
    record.elapsed = elapsed;
    store_->Add(record);
  }
  Learn(configuration, outcome, elapsed);
  return true;
}

trial::TrialRecord Study::RecordOf(const space::Configuration& configuration) const {
  trial::TrialRecord record;
  record.candidate = space::ToJson(*space_, configuration).dump();
  record.proposer = proposer_;
  return record;
}

void Study::Learn(const space::Configuration& configuration, const trial::Outcome& outcome,
                  double elapsed) {
  told_.insert(configuration);
  last_ = StudyTrial{trials_++, configuration, outcome, elapsed};
  trial::Outcome minimized = outcome;
  if (outcome.ok()) {
    ++feasible_trials_;
    const bool is_better = !best_ || (maximize_ ? outcome.value > best_->outcome.value
                                                : outcome.value < best_->outcome.value);
    if (is_better) best_ = last_;
    if (maximize_) minimized.value = -outcome.value;
  }
  optimizer_->Tell(configuration, minimized);
}

}  // namespace bayloom::external
