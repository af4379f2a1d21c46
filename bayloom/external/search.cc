#include "bayloom/external/search.h"

#include <utility>

namespace bayloom {

Search::Search(const Scenario& scenario, std::unique_ptr<Optimizer> optimizer, Recorder recorder)
    : space_(scenario.space),
      maximize_(scenario.maximize),
      first_(scenario.default_configuration),
      optimizer_(std::move(optimizer)),
      recorder_(std::move(recorder)) {}

void Search::Recall(const SearchTrial& trial) { Learn(trial); }

std::vector<Configuration> Search::Ask(int n) {
  std::vector<Configuration> asked;
  const auto add = [&](const Configuration& configuration) {
    const bool is_new = !told_.contains(configuration) && asked_.insert(configuration).second;
    if (is_new) asked.push_back(configuration);
    return is_new;
  };
  if (n > 0 && first_) add(*std::exchange(first_, std::nullopt));
  bool is_exhausted = false;
  while (!is_exhausted && static_cast<int>(asked.size()) < n) {
    is_exhausted = true;
    // The optimizer may choose the default itself while that is still being evaluated.
    for (const Configuration& choice : optimizer_->Ask(n - static_cast<int>(asked.size()))) {
      add(choice);
      is_exhausted = false;
    }
  }
  return asked;
}

bool Search::Tell(const Configuration& configuration, const Outcome& outcome, double elapsed) {
  if (told_.contains(configuration)) return false;
  const SearchTrial trial = {trials_, configuration, outcome, elapsed};
  recorder_(trial);
  Learn(trial);
  return true;
}

void Search::Learn(const SearchTrial& trial) {
  told_.insert(trial.configuration);
  ++trials_;
  last_ = trial;
  Outcome minimized = trial.outcome;
  if (trial.outcome.ok()) {
    ++feasible_trials_;
    const double value = trial.outcome.value;
    const bool is_better =
        !best_ || (maximize_ ? value > best_->outcome.value : value < best_->outcome.value);
    if (is_better) best_ = trial;
    if (maximize_) minimized.value = -value;
  }
  optimizer_->Tell(trial.configuration, minimized);
}

}  // namespace bayloom
