// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/registry.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::model {
class Surrogate;
}  // namespace bayloom::model

namespace bayloom::optimizer {

class Features;

struct TransferData;

/// Makes a surrogate of a new task that knows the earlier ones.
using TransferMethodMaker = std::function<std::unique_ptr<model::Surrogate>(TransferData&&)>;

/// How what was learnt of earlier tasks enters the surrogate of a new one, by name (Kannan 2023,
/// sec. III-C: GPTune's multi-task and TLA-I algorithms).
///
/// "contextual": one process over parameters and the tasks' descriptions.
/// "multitask": one process over all tasks, the linear coregionalization model.
/// "weighted": tasks weigh by how well they put the new task's trials in order.
base::Registry<TransferMethodMaker>& TransferMethods();

/// What is known of another task. Its space has parameters of the same names, as far as they mean
/// the same; domains may differ.
struct EarlierTask {
  std::string name;
  std::shared_ptr<const space::Space> space;
  /// Feasible configurations with their values, in the same sense as the new task's objective.
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  /// Numbers that say what the task is (sizes, capacities), the same ones in the same order for all
  /// tasks; may be empty.
  std::vector<double> description;
};

/// Earlier tasks for a new one. With none, an optimizer begins from nothing.
struct TransferOptions {
  std::vector<EarlierTask> tasks;
  std::string method = "contextual";  ///< see TransferMethods
  std::vector<double> description;    ///< of the new task
  /// Of all earlier trials together so many are learnt from, the best and a sample of the others of
  /// every task: surrogates take time with the cube of them.
  int max_trials = 120;
};

/// A surrogate of the new task that knows the earlier ones. At least one earlier task. Throws
/// InputError for an unknown method.
std::unique_ptr<model::Surrogate> MakeTransferSurrogate(const Features& features,
                                                        const TransferOptions& options);

/// The best configuration as it is to be expected before anything is tried (GPTune's TLA-II): each
/// column of the features of the earlier tasks' best configurations is a Gaussian process over the
/// tasks' descriptions, and what it predicts for the new one is looked for among the feasible
/// configurations. Nullopt without earlier tasks.
std::optional<space::Configuration> PredictBest(const Features& features, const space::Space& space,
                                                const TransferOptions& options,
                                                base::RandomStream& random);

}  // namespace bayloom::optimizer
