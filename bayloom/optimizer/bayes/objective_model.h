// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/history.h"
#include "bayloom/optimizer/bayes/objective_transform.h"

namespace bayloom::optimizer {

/// A surrogate kept up to date with a history's feasible trials. Its hyperparameters, and the
/// transform of the objective, are learnt again when the trials have grown by a tenth since; in
/// between, new trials are added to what it knows. Of more trials than the surrogate can learn
/// from, it gets a selection.
class ObjectiveModel {
 public:
  /// `is_one_of_several`: objectives, which kAuto then scales accordingly. `max_observations`: what
  /// the surrogate can learn from, if 0.
  ObjectiveModel(std::unique_ptr<model::Surrogate> surrogate, const Features& features,
                 model::ObjectiveScale scale, bool is_one_of_several, int max_observations)
      : surrogate_(std::move(surrogate)),
        features_(features),
        scale_(scale),
        is_one_of_several_(is_one_of_several),
        max_observations_(max_observations > 0 ? max_observations
                                               : surrogate_->max_observations()) {}

  /// Whether it was learnt again. The history has a feasible trial.
  bool Update(const History& history, base::RandomStream& random);
  /// An outcome that was learnt already has changed: learn again at the next update.
  void Forget() { learnt_ = 0; }

  const model::Surrogate& surrogate() const { return *surrogate_; }
  /// The least value learnt, on the scale of the surrogate's predictions.
  double Best() const { return surrogate_->Transform(least_); }
  /// A value, on the scale of the surrogate's predictions.
  double Transformed(double value) const { return surrogate_->Transform(transform_(value)); }
  /// Once, when it begins to learn from a selection: a line that says so.
  std::optional<std::string> TakeNotice() { return std::exchange(notice_, std::nullopt); }

 private:
  /// From half of the most on, before a selection is made again.
  size_t MaxSelected() const { return 2 * max_observations_ / 3; }
  std::vector<int> Selected(const History& history);
  model::RowMatrix Rows(const History& history, std::span<const int> places) const;
  Eigen::VectorXd Transformed(const History& history, std::span<const int> places) const;
  void Fit(const History& history, const std::vector<int>& places, base::RandomStream& random);
  void Add(const History& history, const std::vector<int>& places);

  std::unique_ptr<model::Surrogate> surrogate_;
  const Features& features_;
  model::ObjectiveScale scale_;
  bool is_one_of_several_;
  size_t max_observations_;
  ObjectiveTransform transform_;
  double least_ = 0;                   ///< transformed
  size_t learnt_ = 0;                  ///< trials of the history, feasible or not
  size_t held_ = 0, held_at_fit_ = 0;  ///< trials that the surrogate learnt from
  bool is_selective_ = false;
  std::optional<std::string> notice_;
};

}  // namespace bayloom::optimizer
