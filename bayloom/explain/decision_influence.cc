// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/decision_influence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bayloom/base/quantile.h"
#include "bayloom/cost/metrics.h"
#include "bayloom/explain/decision_text.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/model/random_forest.h"
#include "bayloom/model/sobol_indices.h"

namespace bayloom::explain {
namespace {

/// Programs that are made to see what the estimate says of a decision.
constexpr int kEstimatedDraws = 12;
/// Draws of the design space for each of the two samples of Sobol indices.
constexpr int kIndependentDraws = 512;
/// Trials that a forest learns from; of more, these are taken evenly.
constexpr int kTrialsToLearnFrom = 2000;
constexpr int kFolds = 5;

Redraws Summarize(const std::vector<double>& ratios) {
  if (ratios.empty()) return {};
  return {static_cast<int>(ratios.size()), std::ranges::min(ratios), base::Median(ratios),
          std::ranges::max(ratios)};
}

Redraws EstimatedRedraws(const sketch::SpaceGenerator& space, const sketch::Candidate& candidate,
                         int step, double own) {
  std::vector<double> ratios;
  for (int draw = 0; draw < kEstimatedDraws; ++draw) {
    std::vector<std::optional<tensor::Decision>> kept = candidate.trace.decisions();
    kept[static_cast<size_t>(step)].reset();
    const Result<sketch::Candidate> other =
        space.Replay(candidate.space, candidate.trace.WithDecisions(std::move(kept)),
                     base::RandomStream(static_cast<uint64_t>(draw)));
    if (!other || other->hash == candidate.hash) continue;
    const double seconds = feature::EstimateCodeTime(other->program, space.target());
    if (std::isfinite(seconds)) ratios.push_back(seconds / own);
  }
  return Summarize(ratios);
}

/// The decisions of a design space's traces as rows of numbers: logarithms of tile factors, the
/// chosen values of categories, places of computation. One group of columns a decision.
class DecisionRows {
 public:
  explicit DecisionRows(const tensor::Trace& trace) : steps_(trace.SamplingSteps()) {
    for (size_t group = 0; group < steps_.size(); ++group) {
      const auto& decision = trace.decisions()[static_cast<size_t>(steps_[group])];
      const size_t columns = decision ? decision->values.size() : 0;
      group_of_column_.insert(group_of_column_.end(), columns, static_cast<int>(group));
    }
  }

  const model::ColumnGroups& group_of_column() const { return group_of_column_; }
  Eigen::Index columns() const { return std::ssize(group_of_column_); }

  /// False if the trace does not decide the same.
  bool Write(const tensor::Trace& trace, Eigen::Ref<Eigen::RowVectorXd> row) const {
    Eigen::Index column = 0;
    for (int step : steps_) {
      const tensor::Instruction& instruction = trace.instructions()[static_cast<size_t>(step)];
      const auto& decision = trace.decisions()[static_cast<size_t>(step)];
      if (!decision) return false;
      for (int64_t value : decision->values) {
        if (column == row.size()) return false;
        row[column++] = Number(instruction, value);
      }
    }
    return column == row.size();
  }

 private:
  static double Number(const tensor::Instruction& instruction, int64_t value) {
    if (instruction.kind == tensor::InstructionKind::kSamplePerfectTile) {
      return std::log2(static_cast<double>(std::max<int64_t>(value, 1)));
    }
    return static_cast<double>(value);
  }

  std::vector<int> steps_;
  model::ColumnGroups group_of_column_;
};

/// Some of the trials of one design space, as rows and logarithms of seconds.
struct LearningSet {
  model::RowMatrix rows;
  Eigen::VectorXd values;
};

LearningSet LearningSetOf(const DecisionRows& encoding, uint64_t space_hash,
                          std::span<const MeasuredTrace> trials) {
  std::vector<Eigen::RowVectorXd> rows;
  std::vector<double> values;
  Eigen::RowVectorXd row(encoding.columns());
  for (const MeasuredTrace& trial : trials) {
    if (trial.trace.SpaceHash() != space_hash || !encoding.Write(trial.trace, row)) continue;
    rows.push_back(row);
    values.push_back(std::log(trial.seconds));
  }
  const size_t count = std::min<size_t>(rows.size(), kTrialsToLearnFrom);
  LearningSet set{{static_cast<Eigen::Index>(count), encoding.columns()},
                  Eigen::VectorXd(static_cast<Eigen::Index>(count))};
  for (size_t i = 0; i < count; ++i) {
    const size_t taken = i * rows.size() / count;
    set.rows.row(static_cast<Eigen::Index>(i)) = rows[taken];
    set.values[static_cast<Eigen::Index>(i)] = values[taken];
  }
  return set;
}

model::RandomForest Forest() {
  return model::RandomForest({.scale = model::ObjectiveScale::kLinear});
}

Eigen::VectorXd Means(const model::RandomForest& forest, const model::RowMatrix& rows) {
  Eigen::VectorXd mean, variance;
  forest.Predict(rows, mean, variance);
  return mean;
}

/// Rank correlation of predictions with trials that were left out.
double CrossValidate(const LearningSet& set, base::RandomStream& random) {
  const Eigen::Index count = set.values.size();
  std::vector<double> predicted(static_cast<size_t>(count));
  for (Eigen::Index fold = 0; fold < kFolds; ++fold) {
    std::vector<Eigen::Index> kept, left_out;
    for (Eigen::Index i = 0; i < count; ++i) (i % kFolds == fold ? left_out : kept).push_back(i);
    model::RandomForest forest = Forest();
    forest.Fit(set.rows(kept, Eigen::all), set.values(kept), random);
    const Eigen::VectorXd means = Means(forest, set.rows(left_out, Eigen::all));
    for (size_t i = 0; i < left_out.size(); ++i) {
      predicted[static_cast<size_t>(left_out[i])] =
          forest.Untransform(means[static_cast<Eigen::Index>(i)]);
    }
  }
  return cost::SpearmanCorrelation(predicted, {set.values.data(), static_cast<size_t>(count)});
}

/// Independent draws of all decisions.
model::RowMatrix DrawRows(const sketch::SpaceGenerator& space, int index,
                          const DecisionRows& encoding, uint64_t seed) {
  model::RowMatrix rows(kIndependentDraws, encoding.columns());
  Eigen::RowVectorXd row(encoding.columns());
  Eigen::Index count = 0;
  for (uint64_t draw = 0; draw < 4 * kIndependentDraws && count < kIndependentDraws; ++draw) {
    const Result<sketch::Candidate> drawn = space.Sample(index, base::RandomStream(seed + draw));
    if (drawn && encoding.Write(drawn->trace, row)) rows.row(count++) = row;
  }
  return rows.topRows(count);
}

void Learn(const sketch::SpaceGenerator& space, const sketch::Candidate& candidate,
           std::span<const MeasuredTrace> trials, DecisionInfluences& influences) {
  const DecisionRows encoding(candidate.trace);
  const LearningSet set = LearningSetOf(encoding, candidate.trace.SpaceHash(), trials);
  influences.trials = set.values.size();
  if (influences.trials < kFewestTrialsToLearnFrom || encoding.columns() == 0) return;
  base::RandomStream random(1);
  influences.rank_correlation = CrossValidate(set, random);

  model::RandomForest forest = Forest();
  forest.Fit(set.rows, set.values, random);
  model::RowMatrix a = DrawRows(space, candidate.space, encoding, 1'000'000);
  model::RowMatrix b = DrawRows(space, candidate.space, encoding, 2'000'000);
  const Eigen::Index draws = std::min(a.rows(), b.rows());
  if (draws < 2) return;
  a.conservativeResize(draws, Eigen::NoChange);
  b.conservativeResize(draws, Eigen::NoChange);
  const std::vector<model::SobolIndex> indices =
      model::SobolIndices([&](const model::RowMatrix& rows) { return Means(forest, rows); }, a, b,
                          encoding.group_of_column(), random);

  Eigen::RowVectorXd own(encoding.columns());
  if (!encoding.Write(candidate.trace, own)) return;
  const double own_log = forest.Untransform(Means(forest, own)[0]);
  for (size_t group = 0; group < influences.decisions.size() && group < indices.size(); ++group) {
    model::RowMatrix changed = own.replicate(draws, 1);
    for (Eigen::Index column = 0; column < encoding.columns(); ++column) {
      if (encoding.group_of_column()[static_cast<size_t>(column)] == static_cast<int>(group)) {
        changed.col(column) = a.col(column);
      }
    }
    const Eigen::VectorXd means = Means(forest, changed);
    std::vector<double> ratios;
    for (Eigen::Index i = 0; i < draws; ++i) {
      if (changed.row(i) != own) ratios.push_back(std::exp(forest.Untransform(means[i]) - own_log));
    }
    influences.decisions[group].index = indices[group];
    influences.decisions[group].learnt = Summarize(ratios);
  }
}

}  // namespace

DecisionInfluences InfluenceOfDecisions(const sketch::SpaceGenerator& space,
                                        const sketch::Candidate& candidate,
                                        std::span<const MeasuredTrace> trials) {
  DecisionInfluences influences;
  const double own = feature::EstimateCodeTime(candidate.program, space.target());
  for (const int step : candidate.trace.SamplingSteps()) {
    influences.decisions.push_back({step, DecisionText(candidate.trace, step, space.workload()),
                                    EstimatedRedraws(space, candidate, step, own), std::nullopt,
                                    std::nullopt});
  }
  Learn(space, candidate, trials, influences);
  std::ranges::stable_sort(
      influences.decisions, std::greater<>(), [](const DecisionInfluence& decision) {
        return decision.index ? decision.index->total.value : std::log(decision.estimated.median);
      });
  return influences;
}

}  // namespace bayloom::explain
