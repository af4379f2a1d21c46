// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/optimizer.h"

#include <fmt/format.h>

#include <concepts>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/random_forest.h"
#include "bayloom/optimizer/bayes/bayesian_search.h"
#include "bayloom/optimizer/bayes/context_search.h"
#include "bayloom/optimizer/bayes/exclusion_filter.h"
#include "bayloom/optimizer/bayes/fidelity_search.h"
#include "bayloom/optimizer/bayes/scalarized_search.h"
#include "bayloom/optimizer/random_search.h"
#include "bayloom/optimizer/techniques/heuristic_search.h"
#include "bayloom/optimizer/techniques/portfolio.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {
namespace {

template <auto... make_technique>
std::unique_ptr<Optimizer> MakeHeuristic(std::shared_ptr<const space::Space> space,
                                         const OptimizerOptions& options) {
  std::vector<std::unique_ptr<Technique>> techniques;
  const auto add = [&](auto make) {
    if constexpr (std::invocable<decltype(make)>) {
      techniques.push_back(make());
    } else {
      techniques.push_back(make(options.objectives));
    }
  };
  (add(make_technique), ...);
  return std::make_unique<HeuristicSearch>(std::move(space), std::move(techniques), options.seed);
}

// The surrogates see what ObjectiveTransform makes of the objective, and leave it at that.

std::unique_ptr<model::Surrogate> MakeProcess(const Features& features,
                                              const BayesianOptions& bayesian,
                                              const model::KernelPriors& priors) {
  model::GaussianProcessOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  options.search.priors = priors;
  if (!bayesian.hyperparameter_priors) options.search.priors = {{}, {}, {}};
  return std::make_unique<model::GaussianProcess>(features.group_of_column(), options);
}

std::unique_ptr<model::Surrogate> MakeGaussianProcess(const Features& features,
                                                      const BayesianOptions& bayesian) {
  return MakeProcess(features, bayesian, {});
}

/// Of one of several objectives. Under the usual priors few observations make a process too sure
/// that parameters do not matter: their corners are tried for the sake of others, and extend a
/// front by points that are bad in all objectives but one
/// (docs/studies/2026-11-several-objectives.md).
std::unique_ptr<model::Surrogate> MakeProcessOfSeveral(const Features& features,
                                                       const BayesianOptions& bayesian) {
  return MakeProcess(features, bayesian, {.length_scale = model::GammaPrior{2, 1}});
}

std::unique_ptr<model::Surrogate> MakeForest(const Features&, const BayesianOptions&) {
  model::RandomForestOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  return std::make_unique<model::RandomForest>(options);
}

using SurrogateFactory = BayesianSearch::SurrogateFactory;

std::unique_ptr<Optimizer> MakeForestBayesian(std::shared_ptr<const space::Space> space,
                                              const OptimizerOptions& options) {
  const std::vector<SurrogateFactory> surrogates = {MakeForest};
  return std::make_unique<BayesianSearch>(std::move(space), surrogates, options);
}

/// With earlier tasks, of which surrogates choose the objective's scale for all tasks unless they
/// compare ranks only.
std::unique_ptr<Optimizer> MakeTransferBayesian(std::shared_ptr<const space::Space> space,
                                                OptimizerOptions options) {
  if (TransferMethods().At(options.transfer.method).uses_ranks) {
    SortTasks(options.transfer.tasks);
  } else {
    options.bayesian.objective = model::ObjectiveScale::kLinear;
  }
  const std::vector<SurrogateFactory> surrogates = {
      [&](const Features& features, const BayesianOptions&) {
        return MakeTransferSurrogate(features, options.transfer);
      }};
  return std::make_unique<BayesianSearch>(std::move(space), surrogates, options);
}

std::unique_ptr<Optimizer> MakeGaussianBayesian(std::shared_ptr<const space::Space> space,
                                                const OptimizerOptions& options) {
  if (!options.transfer.tasks.empty()) return MakeTransferBayesian(std::move(space), options);
  std::vector<SurrogateFactory> surrogates = {
      options.objectives.size() == 1 ? MakeGaussianProcess : MakeProcessOfSeveral};
  if (options.bayesian.alternate_with_forest) surrogates.emplace_back(MakeForest);
  return std::make_unique<BayesianSearch>(std::move(space), surrogates, options);
}

/// Of one objective and without earlier tasks; else as "bayesian".
std::unique_ptr<Optimizer> MakePortfolio(std::shared_ptr<const space::Space> space,
                                         const OptimizerOptions& options) {
  if (!options.transfer.tasks.empty() || options.objectives.size() > 1) {
    return MakeGaussianBayesian(std::move(space), options);
  }
  const std::vector<SurrogateFactory> surrogates = {MakeGaussianProcess, MakeForest};
  return std::make_unique<Portfolio>(std::move(space), surrogates, options);
}

/// Whether an optimizer makes use of several objectives itself.
bool SeeksFronts(std::string_view name) {
  return name == "bayesian" || name == "portfolio" || name == "genetic" || name == "random";
}

}  // namespace

base::Registry<OptimizerMaker>& Optimizers() {
  static base::Registry<OptimizerMaker> optimizers(
      "optimizer",
      {{"bayesian", "Bayesian optimization with a Gaussian process", MakeGaussianBayesian},
       {"portfolio", "a Gaussian process, helped by other searches where it is stuck",
        MakePortfolio},
       {"forest", "Bayesian optimization with a random forest", MakeForestBayesian},
       {"ensemble", "several heuristics among which a bandit divides the trials",
        MakeHeuristic<MakeHillClimb, MakeAnnealing, MakeGenetic, MakePatternSearch,
                      MakeRandomTechnique>},
       {"genetic", "crossover and mutation of the best configurations", MakeHeuristic<MakeGenetic>},
       {"annealing", "simulated annealing over neighbouring configurations",
        MakeHeuristic<MakeAnnealing>},
       {"random", "uniform over the feasible configurations",
        [](std::shared_ptr<const space::Space> space, const OptimizerOptions& options) {
          return MakeRandomSearch(std::move(space), space::SamplingMethod::kUniformLeaves,
                                  options.seed);
        }}});
  return optimizers;
}

bool IsLastFidelity(const space::Space& space, const space::Configuration& configuration) {
  return configuration.coordinates.back() + 1 == space.parameter(space.size() - 1).Cardinality();
}

namespace {

/// As MakeOptimizer, exclusions apart.
std::unique_ptr<Optimizer> MakeUnfiltered(std::string_view name,
                                          std::shared_ptr<const space::Space> space,
                                          const OptimizerOptions& options) {
  const OptimizerMaker& make = Optimizers().At(name);
  if (options.fidelity) {
    if (name != "bayesian" || options.objectives.size() > 1 || !options.transfer.tasks.empty()) {
      throw InputError(
          "only the optimizer 'bayesian' chooses fidelities, of one objective and without earlier "
          "searches to learn from");
    }
    return std::make_unique<FidelitySearch>(std::move(space), options);
  }
  if (options.context && (name == "bayesian" || name == "portfolio")) {
    return std::make_unique<ContextSearch>(std::move(space), options);
  }
  if (!options.thresholds.empty() && options.thresholds.size() != options.objectives.size()) {
    throw InputError(fmt::format("{} thresholds for {} objectives", options.thresholds.size(),
                                 options.objectives.size()));
  }
  if (options.objectives.size() == 1) return make(std::move(space), options);
  if (!options.transfer.tasks.empty()) {
    throw InputError("earlier searches teach an optimizer of one objective only");
  }
  if (SeeksFronts(name)) return make(std::move(space), options);
  OptimizerOptions of_one = options;
  of_one.objectives.resize(1);
  return std::make_unique<ScalarizedSearch>(make(std::move(space), of_one), options.objectives,
                                            options.seed);
}

}  // namespace

std::unique_ptr<Optimizer> MakeOptimizer(std::string_view name,
                                         std::shared_ptr<const space::Space> space,
                                         const OptimizerOptions& options) {
  OptimizerOptions adapted = options;
  TakeOutNoise(adapted.transfer);
  std::unique_ptr<Optimizer> optimizer = MakeUnfiltered(name, std::move(space), adapted);
  if (!options.excludes) return optimizer;
  return std::make_unique<ExclusionFilter>(std::move(optimizer), options.excludes);
}

}  // namespace bayloom::optimizer
