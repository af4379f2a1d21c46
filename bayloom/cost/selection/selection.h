// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/registry.h"
#include "bayloom/cost/booster.h"

namespace bayloom::cost {

/// The programs of one task as a selection sees them: those that may be measured next ("open")
/// and those that were measured before. Scores and labels are relative throughputs, 1 for the
/// task's best. Rows of one kind have the same columns, on scales that make distances meaningful.
struct SelectionTask {
  std::span<const double> scores;       ///< predicted, per open program
  std::span<const double> uncertainty;  ///< of the scores
  DenseRows features;                   ///< of open programs
  DenseRows representation;             ///< what the model makes of the features
  std::span<const double> measured_scores;
  std::span<const double> measured_labels;
  DenseRows measured_features;
  DenseRows measured_representation;

  int count() const { return static_cast<int>(scores.size()); }
};

/// Which parts of a SelectionTask a method looks at beside scores and labels.
struct SelectionNeeds {
  bool features = false;
  bool representation = false;
  bool uncertainty = false;
};

/// Decides which programs of a task are worth being measured for the training of a model.
class SelectionMethod {
 public:
  virtual ~SelectionMethod() = default;
  virtual std::string name() const = 0;
  virtual SelectionNeeds needs() const { return {}; }

  /// Indices of up to `count` distinct open programs, in the order of their choice; fewer only if
  /// there are fewer.
  virtual std::vector<int> Select(const SelectionTask& task, int count,
                                  base::RandomStream& random) const = 0;
};

struct SelectionOptions {
  /// Biased diversity: the divergence above which fast programs are preferred (Bi et al. 2023,
  /// figure 5: 1).
  double divergence_threshold = 1;
};

/// What makes a selection method.
using SelectionMaker = std::function<std::unique_ptr<SelectionMethod>(const SelectionOptions&)>;

/// All selection methods by name.
base::Registry<SelectionMaker>& SelectionMethods();
/// Throws InputError for a name it does not know.
std::unique_ptr<SelectionMethod> CreateSelection(const std::string& name,
                                                 const SelectionOptions& options = {});

/// "random": uniform, what is compared with.
std::unique_ptr<SelectionMethod> MakeRandomSelection();
/// "biased-diversity": farthest first among the scores, distances weighed by the score, as long as
/// what was measured of the task is mostly slow (Divergence above the threshold); unweighed after
/// that (Bi et al. 2023, algorithm 2).
std::unique_ptr<SelectionMethod> MakeBiasedDiversitySelection(const SelectionOptions& options);
/// "greedy": the best predicted. Where a task gives few programs in all, the fast ones are what is
/// worth knowing: they say how fast the task can be, and in the end they are to be told apart.
std::unique_ptr<SelectionMethod> MakeGreedySelection();

/// How far measured programs are from all being fast: the mean of -log(label), labels below
/// kMinLabel (infeasible programs among them) counting as that (Bi et al. 2023, sec. 3.3).
/// Infinite while nothing is measured.
double Divergence(std::span<const double> labels);
inline constexpr double kMinLabel = 0.01;

}  // namespace bayloom::cost
