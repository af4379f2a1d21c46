// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/objective_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace bayloom::optimizer {
namespace {

/// Trials, in proportion, after which hyperparameters are learnt again.
constexpr double kRefitGrowth = 1.1;

}  // namespace

bool ObjectiveModel::Update(const History& history, base::RandomStream& random) {
  const std::vector<Observation>& trials = history.trials();
  std::vector<int> fresh;  // places of feasible trials not learnt yet
  bool accepts = true;
  for (size_t i = learnt_; i < trials.size(); ++i) {
    if (!trials[i].outcome.ok()) continue;
    fresh.push_back(static_cast<int>(i));
    accepts = accepts && transform_.Accepts(trials[i].outcome.value);
  }
  const size_t most = is_selective_ ? MaxSelected() : max_observations_;
  const size_t held = learnt_ == 0 ? 0 : held_;
  const bool has_grown =
      held == history.feasible() - fresh.size() &&
      static_cast<double>(history.feasible()) >= kRefitGrowth * static_cast<double>(held_at_fit_);
  const bool fit = learnt_ == 0 || !accepts || has_grown || held + fresh.size() > most;
  learnt_ = trials.size();
  if (fit) {
    Fit(history, Selected(history), random);
  } else if (!fresh.empty()) {
    Add(history, fresh);
  }
  return fit;
}

/// All feasible trials, if the surrogate can learn from so many; else half as many as it could, as
/// the search is to go on at this pace: the best, the newest, and the others evenly by their rank.
std::vector<int> ObjectiveModel::Selected(const History& history) {
  std::vector<int> places;
  if (history.feasible() <= max_observations_) {
    for (size_t i = 0; i < history.trials().size(); ++i) {
      if (history.trials()[i].outcome.ok()) places.push_back(static_cast<int>(i));
    }
    return places;
  }
  const size_t count = max_observations_ / 2;
  if (!std::exchange(is_selective_, true)) {
    notice_ = fmt::format(
        "from now on the model of the objective learns from {} to {} trials: the best, the newest "
        "and a sample of the others; learning from all would take longer with every trial",
        count, MaxSelected());
  }
  std::unordered_set<int> taken;
  for (int place : history.Best(count / 4)) taken.insert(place);
  for (size_t i = history.trials().size(); i-- > 0 && taken.size() < count / 2;) {
    if (history.trials()[i].outcome.ok()) taken.insert(static_cast<int>(i));
  }
  std::vector<int> others;
  for (const auto& [value, place] : history.ranking()) {
    if (!taken.contains(place)) others.push_back(place);
  }
  const size_t drawn = count - taken.size();
  places.assign(taken.begin(), taken.end());
  for (size_t i = 0; i < drawn; ++i) places.push_back(others[i * others.size() / drawn]);
  std::sort(places.begin(), places.end());
  return places;
}

model::RowMatrix ObjectiveModel::Rows(const History& history, std::span<const int> places) const {
  std::vector<space::Configuration> configurations;
  for (int place : places) configurations.push_back(history.trials()[place].configuration);
  return features_(configurations);
}

Eigen::VectorXd ObjectiveModel::Transformed(const History& history,
                                            std::span<const int> places) const {
  Eigen::VectorXd transformed(std::ssize(places));
  std::transform(places.begin(), places.end(), transformed.begin(),
                 [&](int place) { return transform_(history.trials()[place].outcome.value); });
  return transformed;
}

void ObjectiveModel::Fit(const History& history, const std::vector<int>& places,
                         base::RandomStream& random) {
  std::vector<double> values;
  for (int place : places) values.push_back(history.trials()[place].outcome.value);
  transform_ = is_one_of_several_ && scale_ == model::ObjectiveScale::kAuto
                   ? ObjectiveTransform::WithLinearFront(values)
                   : ObjectiveTransform(values, scale_);
  const Eigen::VectorXd transformed = Transformed(history, places);
  surrogate_->Fit(Rows(history, places), transformed, random);
  held_ = held_at_fit_ = places.size();
  least_ = transformed.minCoeff();
}

void ObjectiveModel::Add(const History& history, const std::vector<int>& places) {
  const Eigen::VectorXd transformed = Transformed(history, places);
  surrogate_->Add(Rows(history, places), transformed);
  held_ += places.size();
  least_ = std::min(least_, transformed.minCoeff());
}

}  // namespace bayloom::optimizer
