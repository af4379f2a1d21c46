// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/acquisition/utility.h"
#include "bayloom/base/registry.h"
#include "bayloom/model/objective_scale.h"
#include "bayloom/optimizer/contexts.h"
#include "bayloom/optimizer/feature_options.h"
#include "bayloom/optimizer/transfer.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::optimizer {

/// Decides which configurations of a space to try; everything minimizes.
///
/// Several objectives at once (OptimizerOptions::objectives): what is sought is not one
/// configuration but a Pareto front, as large a hypervolume as possible.
///
///     const auto optimizer = MakeOptimizer("bayesian", space, {.seed = 1});
///     while (trials-- > 0) {
///       for (const Configuration& c : optimizer->Ask(1)) optimizer->Tell(c, Evaluate(c));
///     }
///
/// Values may be of any finite magnitude. An optimizer whose model fails asks for random
/// configurations until it can be fitted again. The cost of a suggestion is bounded for any number
/// of trials: a Gaussian process learns from all up to 1,200 feasible trials (a forest up to
/// 12,000), and beyond that from half as many, the best, the newest and a sample of the others.
///
/// The same seed, questions and outcomes give the same answers. Not thread safe: one thread drives
/// an optimizer, however many evaluate what it asks for.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// `n` configurations to evaluate: distinct, feasible by the known constraints and never asked or
  /// told before. Fewer when the space has no more, or no more were found (see gave_up). Asking
  /// again before telling is allowed: what is still being evaluated is taken into account.
  virtual std::vector<space::Configuration> Ask(int n) = 0;

  /// Whether the last Ask gave fewer although the space may have more: constraints that cannot be
  /// enumerated left nothing new within a bounded number of draws.
  virtual bool gave_up() const = 0;

  /// What a person should know of how it searches, and has not been told by an earlier call, a line
  /// each: that its model failed and what it does instead, that it learns from a part of the trials
  /// only.
  virtual std::vector<std::string> TakeNotices() { return {}; }

  /// What came of a trial, in any order; also of configurations that were never asked for (a warm
  /// start). Of a configuration told twice the later outcome counts. Throws InputError when the
  /// configuration is not in the space, or a feasible outcome has no finite value of an objective.
  virtual void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) = 0;
};

/// How outcomes still to come are imagined, so that questions asked in parallel differ.
enum class PendingPolicy : uint8_t {
  kBeliever,  ///< as what the surrogate expects (kriging believer)
  kLiar,      ///< as good as the best known (constant liar)
};

/// What the two bayesian optimizers can be told; the defaults serve every space.
struct BayesianOptions {
  acquisition::AcquisitionKind acquisition = acquisition::AcquisitionKind::kExpectedImprovement;
  /// Let a random forest make every second suggestion of "bayesian": the two err elsewhere. Gains a
  /// little on some spaces and loses as much on others, hence not by default
  /// (docs/studies/2026-11-recorded-spaces.md). Not with earlier tasks.
  bool alternate_with_forest = false;
  /// How far to explore: the multiple of the standard deviation in the confidence bound (otherwise
  /// it grows slowly with the trials), or by how many standard deviations of the objective an
  /// improvement must exceed the best to count (otherwise 0).
  std::optional<double> trade_off = {};
  /// Look for improvements of the objective behind the noise, as Hellsten et al. 2023 do
  /// (sec. 3.3), instead of the next value seen. No configuration is tried twice, and what the
  /// surrogate takes for noise is mostly what is special about each: a search that trusts its mean
  /// alone there misses the best among many that look alike
  /// (docs/studies/2026-11-recorded-spaces.md).
  bool noise_free = false;
  /// kAuto chooses the most likely of several powers, not of two scales only.
  model::ObjectiveScale objective = model::ObjectiveScale::kAuto;
  PendingPolicy pending = PendingPolicy::kBeliever;
  FeatureOptions features = {};
  /// Priors of the Gaussian process's hyperparameters (Hellsten et al. 2023, sec. 3.2).
  bool hyperparameter_priors = true;
  /// How random configurations are drawn, at the start and to be scored in large spaces.
  space::SamplingMethod sampling = space::SamplingMethod::kUniformLeaves;
  /// Learn which configurations fail, from the first failure on (Hellsten et al. 2023, sec. 4.2).
  bool learn_feasibility = true;
  /// Largest of the minimum probabilities of feasibility that are drawn again for each suggestion;
  /// 0 demands none.
  double feasibility_threshold = 0.1;
  /// Spaces with at most this many feasible configurations are scored entirely; larger ones by
  /// sampling and local search.
  int score_all_up_to = 4096;
  /// Larger spaces: configurations sampled at random a suggestion, and how many of the best climb
  /// (0: none does, nor the best known). From 40 parameters on what differs from the best known in
  /// a few is scored instead; there, too, 0 leaves the random ones alone.
  int random_candidates = 1000;
  int local_searches = 5;
  /// Feasible trials that the surrogate learns from at most, before it gets a selection of them; 0:
  /// 1,200 for a Gaussian process, 12,000 for a forest. What a suggestion costs grows with their
  /// square at least.
  int max_observations = 0;
  /// Users' priors over good values weigh like this many trials (pi-BO's beta); 0 ignores them.
  double prior_weight = 10;
};

/// That configurations can be evaluated at several fidelities: smaller inputs, fewer repetitions.
struct FidelityOptions {
  /// The space without its last parameter, which is the fidelity: an ordinal whose last value is
  /// the one that counts.
  std::shared_ptr<const space::Space> space;
};

/// Whether a configuration of a space whose last parameter is the fidelity has the last one.
bool IsLastFidelity(const space::Space& space, const space::Configuration& configuration);

/// Whether a configuration is not to be tried.
using ExclusionTest = std::function<bool(const space::Configuration&)>;

struct OptimizerOptions {
  uint64_t seed = 0;
  /// Random configurations before the bayesian optimizers trust their surrogate; 0 chooses by the
  /// number of parameters.
  int initial_samples = 0;
  BayesianOptions bayesian = {};
  /// What is minimized: first the outcomes' value, under any name, then named values of theirs. Of
  /// several, "bayesian" expects hypervolume improvement from a Gaussian process of each
  /// objective, "genetic" sorts its population by fronts (NSGA-II), "random" needs not know; all
  /// others minimize weighted sums of the objectives with weights that change (ParEGO).
  std::vector<std::string> objectives = {"value"};
  /// Of several objectives: what is worse than this in one of them is of no interest, which
  /// "bayesian" goes by. None, or as many as objectives.
  std::vector<std::optional<double>> thresholds = {};
  /// What "bayesian" learns from before its first trial; the others begin from nothing.
  TransferOptions transfer = {};
  /// "bayesian" decides for each configuration at which fidelity it is to be evaluated, by what a
  /// second of that tells of the last one. Outcomes of the others are no candidates for the best.
  std::optional<FidelityOptions> fidelity = {};
  /// The same parameters are searched in other contexts as well, of which "bayesian" learns; the
  /// other optimizers search each on its own.
  std::optional<ContextOptions> context = {};
  /// The bayesian optimizers ask for canonical configurations only, as long as they find new ones.
  space::CanonicalForm canonical = {};
  /// Known constraints that are code: what it excludes is never asked for. The space does not know
  /// them, so that each costs the time of a suggestion, and optimizers learn of them as of
  /// failures.
  ExclusionTest excludes = {};
};

/// What makes an optimizer.
using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(std::shared_ptr<const space::Space>,
                                                                const OptimizerOptions&)>;

/// All optimizers by name.
///
/// "random": uniform over the feasible configurations.
/// "annealing", "genetic": the classical ones, over the space's feasible neighbours.
/// "ensemble": a bandit divides the trials among several heuristics (OpenTuner's idea).
/// "forest": bayesian with a random forest as surrogate (Ytopt's idea).
/// "bayesian": bayesian with a Gaussian process; the default everywhere.
/// "portfolio": as "bayesian" while that finds something better; then others have turns as well.
/// Several objectives and earlier tasks are left to "bayesian".
base::Registry<OptimizerMaker>& Optimizers();

/// Throws InputError naming the choices when there is no optimizer of that name, and for several
/// objectives with earlier tasks to learn from.
std::unique_ptr<Optimizer> MakeOptimizer(std::string_view name,
                                         std::shared_ptr<const space::Space> space,
                                         const OptimizerOptions& options = {});

}  // namespace bayloom::optimizer
