// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/transfer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "bayloom/acquisition/local_search.h"
#include "bayloom/model/contextual.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/multi_task.h"
#include "bayloom/model/prior_mean.h"
#include "bayloom/model/weighted_sum.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/transfer_data.h"

namespace bayloom::optimizer {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Random configurations from whose nearest to a prediction climbs begin.
constexpr int kDrawn = 2000;
constexpr size_t kClimbs = 5;
constexpr int kClimbSteps = 200;

/// Rows of another task's configurations under the columns of the new one. Columns that the other
/// does not have are 0: to it they are fixed.
model::RowMatrix AlignedRows(const Features& features, const EarlierTask& task,
                             std::span<const space::Configuration> configurations) {
  const Features own(task.space);
  const model::RowMatrix rows = own(configurations);
  std::map<std::string, int> column_named;
  const std::vector<std::string> own_names = own.ColumnNames(), names = features.ColumnNames();
  for (int c = 0; c < own.columns(); ++c) column_named[own_names[static_cast<size_t>(c)]] = c;
  model::RowMatrix aligned = model::RowMatrix::Zero(rows.rows(), features.columns());
  for (int c = 0; c < features.columns(); ++c) {
    const auto found = column_named.find(names[static_cast<size_t>(c)]);
    if (found != column_named.end()) aligned.col(c) = rows.col(found->second);
  }
  return aligned;
}

model::TaskObservations Observations(const Features& features, const EarlierTask& task) {
  return {AlignedRows(features, task, task.configurations),
          Eigen::Map<const VectorXd>(task.values.data(), std::ssize(task.values))};
}

/// Descriptions as rows, the new task's last, every number brought to [0, 1]; without descriptions
/// all tasks are alike.
model::RowMatrix DescriptionRows(const TransferOptions& options) {
  size_t size = options.description.size();
  for (const EarlierTask& task : options.tasks) size = std::min(size, task.description.size());
  model::RowMatrix rows = model::RowMatrix::Zero(std::ssize(options.tasks) + 1,
                                                 static_cast<Index>(std::max<size_t>(1, size)));
  for (size_t c = 0; c < size; ++c) {
    const auto column = static_cast<Index>(c);
    for (size_t i = 0; i < options.tasks.size(); ++i) {
      rows(static_cast<Index>(i), column) = options.tasks[i].description[c];
    }
    rows(rows.rows() - 1, column) = options.description[c];
    const double least = rows.col(column).minCoeff(), most = rows.col(column).maxCoeff();
    rows.col(column).array() -= least;
    if (most > least) rows.col(column) /= most - least;
  }
  return rows;
}

/// The feasible configuration nearest to a row, as far as climbs find it. How often numbers can be
/// halved does not count: it would make ridges between the values.
std::optional<space::Configuration> Nearest(const Features& features, const space::Space& space,
                                            const Eigen::RowVectorXd& wanted,
                                            base::RandomStream& random) {
  Eigen::RowVectorXd counts = Eigen::RowVectorXd::Ones(wanted.size());
  const std::vector<std::string> names = features.ColumnNames();
  for (size_t c = 0; c < names.size(); ++c) {
    if (!names[c].ends_with("]")) counts[static_cast<Index>(c)] = 0;
  }
  const auto closeness = [&](std::span<const space::Configuration> configurations,
                             std::span<double> utilities) {
    const model::RowMatrix rows = features(configurations);
    for (size_t i = 0; i < utilities.size(); ++i) {
      utilities[i] = -(rows.row(static_cast<Index>(i)) - wanted).cwiseProduct(counts).squaredNorm();
    }
  };
  std::vector<space::Configuration> drawn;
  for (int i = 0; i < kDrawn; ++i) {
    if (std::optional<space::Configuration> one = space.Sample(random))
      drawn.push_back(*std::move(one));
  }
  std::vector<double> utilities(drawn.size());
  closeness(drawn, utilities);
  std::vector<space::Configuration> starts;
  std::vector<size_t> order(drawn.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return utilities[i]; });
  for (size_t i = 0; i < std::min(kClimbs, order.size()); ++i) starts.push_back(drawn[order[i]]);
  acquisition::Suggestion found = acquisition::ClimbToBest(
      space, closeness, starts, [](const space::Configuration&) { return false; }, kClimbSteps,
      random);
  if (!found.exists()) return std::nullopt;
  return std::move(found.configuration);
}

}  // namespace

base::Registry<TransferMethod>& TransferMethods() {
  static base::Registry<TransferMethod> methods(
      "transfer method",
      {{"contextual",
        "one process over parameters and the tasks' descriptions",
        {[](TransferData&& data) {
          return std::make_unique<model::ContextualSurrogate>(data.group_of_column, data.Thinned(),
                                                              std::move(data.descriptions));
        }}},
       {"multitask",
        "one process over all tasks (linear coregionalization)",
        {[](TransferData&& data) {
          return std::make_unique<model::TransferSurrogate>(data.group_of_column, data.Thinned());
        }}},
       {"prior",
        "what earlier tasks rank first is expected to be good, as far as they rank the new task's "
        "trials well",
        {[](TransferData&& data) {
           return std::make_unique<model::PriorMeanSurrogate>(
               data.group_of_column, std::move(data.earlier), std::move(data.failures));
         },
         /*uses_ranks=*/true}},
       {"weighted",
        "a sum, weighted by how well each task ranks the new task's trials",
        {[](TransferData&& data) {
          return std::make_unique<model::WeightedSurrogate>(data.group_of_column, data.Thinned());
        }}}});
  return methods;
}

std::unique_ptr<model::Surrogate> MakeTransferSurrogate(const Features& features,
                                                        const TransferOptions& options) {
  TransferData data;
  data.group_of_column = features.group_of_column();
  data.descriptions = DescriptionRows(options);
  data.max_trials = options.max_trials;
  for (const EarlierTask& task : options.tasks) {
    data.earlier.push_back(Observations(features, task));
    data.failures.push_back(AlignedRows(features, task, task.failures));
  }
  return TransferMethods().At(options.method).make(std::move(data));
}

std::optional<space::Configuration> PredictBest(const Features& features, const space::Space& space,
                                                const TransferOptions& options,
                                                base::RandomStream& random) {
  if (options.tasks.empty()) return std::nullopt;
  model::RowMatrix best(std::ssize(options.tasks), features.columns());
  for (size_t i = 0; i < options.tasks.size(); ++i) {
    const EarlierTask& task = options.tasks[i];
    const auto least = std::ranges::min_element(task.values) - task.values.begin();
    best.row(static_cast<Index>(i)) =
        AlignedRows(features, task, std::span(task.configurations).subspan(least, 1));
  }
  const model::RowMatrix descriptions = DescriptionRows(options);
  const model::RowMatrix known = descriptions.topRows(best.rows()),
                         asked = descriptions.bottomRows(1);
  // Of few tasks one length-scale can be learnt, not one for each number.
  model::GaussianProcessOptions plain;
  plain.scale = model::ObjectiveScale::kLinear;
  Eigen::RowVectorXd wanted(features.columns());
  VectorXd mean, variance;
  for (Index c = 0; c < best.cols(); ++c) {
    model::GaussianProcess process(model::ColumnGroups(static_cast<size_t>(known.cols()), 0),
                                   plain);
    try {
      process.Fit(known, best.col(c), random);
    } catch (const model::FitFailure&) {
      return std::nullopt;
    }
    process.Predict(asked, mean, variance);
    wanted[c] = process.Untransform(mean[0]);
  }
  return Nearest(features, space, wanted, random);
}

}  // namespace bayloom::optimizer
