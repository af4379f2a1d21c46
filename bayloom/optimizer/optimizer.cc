// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/optimizer.h"

#include <array>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/random_forest.h"
#include "bayloom/optimizer/internal/bayesian_search.h"
#include "bayloom/optimizer/internal/heuristic_search.h"
#include "bayloom/optimizer/internal/random_search.h"
#include "bayloom/optimizer/internal/technique.h"

namespace bayloom::optimizer {
namespace {

using OptimizerFactory = std::unique_ptr<Optimizer> (*)(std::shared_ptr<const space::Space>,
                                                        const OptimizerOptions&);

template <space::SamplingMethod method>
std::unique_ptr<Optimizer> MakeRandom(std::shared_ptr<const space::Space> space,
                                      const OptimizerOptions& options) {
  return std::make_unique<RandomSearch>(std::move(space), method, options.seed);
}

template <auto... make_technique>
std::unique_ptr<Optimizer> MakeHeuristic(std::shared_ptr<const space::Space> space,
                                         const OptimizerOptions& options) {
  std::vector<std::unique_ptr<Technique>> techniques;
  (techniques.push_back(make_technique()), ...);
  return std::make_unique<HeuristicSearch>(std::move(space), std::move(techniques), options.seed);
}

// The surrogates see what ObjectiveTransform makes of the objective, and leave it at that.

std::unique_ptr<model::Surrogate> MakeGaussianProcess(const Features& features,
                                                      const BayesianOptions& bayesian) {
  model::GaussianProcessOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  if (!bayesian.hyperparameter_priors) options.search.priors = {{}, {}, {}};
  return std::make_unique<model::GaussianProcess>(features.group_of_column(), options);
}

std::unique_ptr<model::Surrogate> MakeForest(const Features&, const BayesianOptions&) {
  model::RandomForestOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  return std::make_unique<model::RandomForest>(options);
}

using SurrogateFactory = BayesianSearch::SurrogateFactory;

std::unique_ptr<Optimizer> MakeBayesian(std::shared_ptr<const space::Space> space,
                                        const std::vector<SurrogateFactory>& surrogates,
                                        const OptimizerOptions& options) {
  return std::make_unique<BayesianSearch>(std::move(space), surrogates, options);
}

std::unique_ptr<Optimizer> MakeForestBayesian(std::shared_ptr<const space::Space> space,
                                              const OptimizerOptions& options) {
  return MakeBayesian(std::move(space), {MakeForest}, options);
}

/// With earlier tasks, whose surrogates choose the objective's scale for all tasks.
std::unique_ptr<Optimizer> MakeGaussianBayesian(std::shared_ptr<const space::Space> space,
                                                const OptimizerOptions& options) {
  if (options.transfer.tasks.empty()) {
    std::vector<SurrogateFactory> surrogates = {MakeGaussianProcess};
    if (options.bayesian.alternate_with_forest) surrogates.emplace_back(MakeForest);
    return MakeBayesian(std::move(space), surrogates, options);
  }
  OptimizerOptions linear = options;
  linear.bayesian.objective = model::ObjectiveScale::kLinear;
  const SurrogateFactory make_transfer = [&](const Features& features, const BayesianOptions&) {
    return MakeTransferSurrogate(features, options.transfer);
  };
  return MakeBayesian(std::move(space), {make_transfer}, linear);
}

struct Entry {
  std::string_view name;
  OptimizerFactory make;
};

constexpr std::array kOptimizers = {
    Entry{"random", MakeRandom<space::SamplingMethod::kUniformLeaves>},
    Entry{"chain-of-trees", MakeRandom<space::SamplingMethod::kBiasedPath>},
    Entry{"annealing", MakeHeuristic<MakeAnnealing>},
    Entry{"genetic", MakeHeuristic<MakeGenetic>},
    Entry{"ensemble", MakeHeuristic<MakeHillClimb, MakeAnnealing, MakeGenetic, MakePatternSearch,
                                    MakeRandomTechnique>},
    Entry{"forest", MakeForestBayesian},
    Entry{"bayesian", MakeGaussianBayesian},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kOptimizers.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kOptimizers[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> OptimizerNames() { return kNames; }

std::unique_ptr<Optimizer> MakeOptimizer(std::string_view name,
                                         std::shared_ptr<const space::Space> space,
                                         const OptimizerOptions& options) {
  std::string choices;
  for (const Entry& entry : kOptimizers) {
    if (entry.name == name) return entry.make(std::move(space), options);
    choices += (choices.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw InputError("no optimizer is called '" + std::string(name) + "'; there are " + choices);
}

}  // namespace bayloom::optimizer
