// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/optimizer/internal/features.h"
#include "bayloom/optimizer/internal/memory.h"
#include "bayloom/optimizer/internal/objective_transform.h"

namespace bayloom::optimizer {

/// A surrogate kept up to date with a memory's feasible trials. Its hyperparameters, and the
/// transform of the objective, are learnt anew when the trials have grown by a tenth since; in
/// between, new trials are added to what it knows.
class ObjectiveModel {
 public:
  ObjectiveModel(std::unique_ptr<model::Surrogate> surrogate, const Features& features,
                 model::ObjectiveScale scale)
      : surrogate_(std::move(surrogate)), features_(features), scale_(scale) {}

  /// Whether it was learnt anew. The memory has a feasible trial.
  bool Update(const Memory& memory, base::RandomStream& random);
  /// An outcome that was learnt already has changed: learn anew at the next update.
  void Forget() { learnt_ = 0; }

  const model::Surrogate& surrogate() const { return *surrogate_; }
  /// The least value learnt, on the scale of the surrogate's predictions.
  double Best() const { return surrogate_->Transform(least_); }

 private:
  std::unique_ptr<model::Surrogate> surrogate_;
  const Features& features_;
  model::ObjectiveScale scale_;
  ObjectiveTransform transform_;
  double least_ = 0;   ///< transformed
  size_t learnt_ = 0;  ///< trials of the memory, feasible or not
  int feasible_ = 0, feasible_at_fit_ = 0;
};

}  // namespace bayloom::optimizer
