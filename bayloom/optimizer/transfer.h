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
struct TransferMethod {
  std::function<std::unique_ptr<model::Surrogate>(TransferData&&)> make;
  /// It compares ranks only, and the new task's values may be transformed as without transfer.
  bool uses_ranks = false;
};

/// How what was learnt of earlier tasks enters the surrogate of a new one, by name (Kannan 2023,
/// sec. III-C: GPTune's multi-task and TLA-I algorithms).
///
/// "contextual": one process over parameters and the tasks' descriptions.
/// "multitask": one process over all tasks, the linear coregionalization model.
/// "prior": a process of what a weighted sum of the earlier tasks' rankings leaves unexplained.
/// "weighted": tasks weigh by how well they put the new task's trials in order.
base::Registry<TransferMethod>& TransferMethods();

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
  /// Configurations that failed: a hint to "prior", as they may work in the new task.
  std::vector<space::Configuration> failures = {};
};

/// Earlier tasks for a new one. With none, an optimizer begins from nothing.
struct TransferOptions {
  std::vector<EarlierTask> tasks;
  std::string method = "contextual";  ///< see TransferMethods
  std::vector<double> description;    ///< of the new task
  /// Of all earlier trials together so many are learnt from, the best and a sample of the others of
  /// every task: surrogates take time with the cube of them. "prior" learns from all.
  int max_trials = 120;
  /// So many configurations that did best in earlier tasks are tried before anything else; see
  /// BestOfEarlier.
  int beginnings = 0;
  std::vector<std::string> left_out = {};  ///< names of tasks that TakeOutNoise removed
};

/// The tasks in an order that does not depend on the one given, so that choices do not either.
void SortTasks(std::vector<EarlierTask>& tasks);

/// That a task's values depend on its parameters: the posterior probability, 0.9 beforehand, of a
/// correlation of 0.3 between one half of its trials and what a forest says of them that learnt the
/// other half, against none. Values that belong to other configurations, or are noise alone, are
/// found out so before anything is tried: mostly from 100 trials on, always from 1,000 on. A
/// reversed order is not.
double ProbabilityOfLearnable(const EarlierTask& task);

/// Removes the tasks of which that is less than one half, and adds their names to `left_out`.
void TakeOutNoise(TransferOptions& options);

/// A configuration of another task with the same values of the parameters that both have, and
/// defaults (else the first values) of those that are new. Nullopt where a value is not in the
/// domain or constraints do not hold.
std::optional<space::Configuration> Translate(const space::Space& from,
                                              const space::Configuration& configuration,
                                              const space::Space& to);

/// Up to `count` configurations of the space to begin with: of several earlier tasks of the same
/// space the configuration that all together rank first, which shows soonest whether they are worth
/// anything; then the best of each in turn. Each differs from the others in more than one parameter
/// where possible.
std::vector<space::Configuration> BestOfEarlier(const space::Space& space,
                                                const std::vector<EarlierTask>& tasks, int count);

/// A surrogate of the new task that knows the earlier ones. At least one earlier task. Throws
/// InputError for an unknown method.
std::unique_ptr<model::Surrogate> MakeTransferSurrogate(const Features& features,
                                                        const TransferOptions& options);

/// The best configuration as it is to be expected before anything is tried (GPTune's TLA-II): each
/// column of the features of the earlier tasks' best configurations is a Gaussian process over the
/// tasks' descriptions, and what it predicts for the new one is looked for among the feasible
/// configurations. Nullopt without earlier tasks, and where no process can be fitted.
std::optional<space::Configuration> PredictBest(const Features& features, const space::Space& space,
                                                const TransferOptions& options,
                                                base::RandomStream& random);

}  // namespace bayloom::optimizer
