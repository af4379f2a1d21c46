// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/multi_task.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bayloom/model/dense.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/log_posterior.h"
#include "bayloom/model/minimize.h"

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd AllValues(std::span<const TaskObservations> tasks) {
  Index count = 0;
  for (const TaskObservations& task : tasks) count += task.values.size();
  VectorXd all(count);
  Index at = 0;
  for (const TaskObservations& task : tasks) {
    all.segment(at, task.values.size()) = task.values;
    at += task.values.size();
  }
  return all;
}

/// One scale a task: its own centre, and the deviation within tasks.
std::vector<Standardizer> ScaleTasks(std::span<const TaskObservations> tasks, bool log) {
  const ValueRange range = log ? ValueRange() : ValueRange(AllValues(tasks));
  double squares = 0, sum = 0;
  Index count = 0;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> centres;
  for (const TaskObservations& task : tasks) {
    const Eigen::ArrayXd scaled =
        log ? task.values.array().log().eval() : task.values.unaryExpr(range).array().eval();
    centres.push_back(scaled.size() > 0 ? scaled.mean() : 0);
    if (scaled.size() == 0) continue;
    squares += (scaled - centres.back()).square().sum();
    sum += scaled.sum();
    count += scaled.size();
    least = std::min(least, task.values.minCoeff());
  }
  const double spread = std::sqrt(squares / static_cast<double>(count));
  std::vector<Standardizer> scales;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const double centre =
        tasks[i].values.size() > 0 ? centres[i] : sum / static_cast<double>(count);
    scales.emplace_back(log, centre, spread, least, range);
  }
  return scales;
}

std::vector<Standardizer> ChooseScales(std::span<const TaskObservations> tasks,
                                       ObjectiveScale scale) {
  const bool positive = std::all_of(tasks.begin(), tasks.end(), [](const auto& task) {
    return task.values.size() == 0 || task.values.minCoeff() > 0;
  });
  const auto linear = ScaleTasks(tasks, false);
  if (scale == ObjectiveScale::kLinear || !positive) return linear;
  const auto log = ScaleTasks(tasks, true);
  double difference = 0;  // in the log likelihood of normal distributions
  for (size_t i = 0; i < tasks.size(); ++i) {
    difference += log[i].LogJacobian(tasks[i].values) - linear[i].LogJacobian(tasks[i].values);
  }
  return scale == ObjectiveScale::kLog || difference > 0 ? log : linear;
}

/// Tasks that share most of what they are.
Coregionalization UsualCoregionalization(int groups, int tasks, int latents) {
  Coregionalization usual;
  for (int q = 0; q < latents; ++q) {
    usual.latents.push_back({VectorXd::Ones(groups), VectorXd::Constant(tasks, q == 0 ? 1 : 0.3),
                             VectorXd::Constant(tasks, 0.1)});
  }
  usual.noise_variance = VectorXd::Constant(tasks, 1e-2);
  return usual;
}

Coregionalization DrawCoregionalization(int groups, int tasks, int latents,
                                        base::RandomStream& random) {
  auto decades = [&](int size, double from, double to) -> VectorXd {
    return VectorXd::NullaryExpr(
        size, [&] { return std::pow(10, from + (to - from) * random.Uniform()); });
  };
  Coregionalization drawn;
  for (int q = 0; q < latents; ++q) {
    drawn.latents.push_back({decades(groups, -1, 0.5),
                             VectorXd::NullaryExpr(tasks, [&] { return random.Normal(); }),
                             decades(tasks, -2, 0)});
  }
  drawn.noise_variance = decades(tasks, -5, -1);
  return drawn;
}

/// The same values for all latents' parts of the packed parameters.
VectorXd PackBounds(int groups, int tasks, int latents, double length, double weight, double own,
                    double noise) {
  const LatentProcess part{VectorXd::Constant(groups, length), VectorXd::Constant(tasks, weight),
                           VectorXd::Constant(tasks, own)};
  return Coregionalization{std::vector<LatentProcess>(latents, part),
                           VectorXd::Constant(tasks, noise)}
      .Pack();
}

}  // namespace

MultiTaskGaussianProcess::MultiTaskGaussianProcess(ColumnGroups group_of_column,
                                                   MultiTaskOptions options)
    : group_of_column_(std::move(group_of_column)), options_(options) {}

void MultiTaskGaussianProcess::Fit(std::span<const TaskObservations> tasks,
                                   base::RandomStream& random) {
  for (const TaskObservations& task : tasks) CheckFinite(task.values);
  scales_ = ChooseScales(tasks, options_.scale);
  Pool(tasks);
  Learn(random);
  Factorize();
}

void MultiTaskGaussianProcess::Pool(std::span<const TaskObservations> tasks) {
  Index count = 0;
  for (const TaskObservations& task : tasks) count += task.values.size();
  observations_ = {
      RowMatrix(count, static_cast<Index>(group_of_column_.size())), {}, VectorXd(count)};
  Index at = 0;
  for (int i = 0; i < std::ssize(tasks); ++i) {
    const Index size = tasks[i].values.size();
    if (size == 0) continue;
    observations_.rows.middleRows(at, size) = tasks[i].rows;
    observations_.values.segment(at, size) = scales_[i].Apply(tasks[i].values);
    observations_.tasks.insert(observations_.tasks.end(), size, i);
    at += size;
  }
}

void MultiTaskGaussianProcess::Learn(base::RandomStream& random) {
  const int groups = CountGroups(group_of_column_), tasks = static_cast<int>(scales_.size());
  const int latents = std::min(options_.latents, tasks);
  const int count = static_cast<int>(observations_.values.size());
  const bool fresh = searched_at_ == 0 || parameters_.tasks() != tasks;
  const bool search = fresh || count >= options_.search_growth * searched_at_;

  std::vector<Coregionalization> starts{fresh ? UsualCoregionalization(groups, tasks, latents)
                                              : parameters_};
  for (int i = 0; search && i < options_.random_starts; ++i) {
    starts.push_back(DrawCoregionalization(groups, tasks, latents, random));
  }
  auto negated = [&](const VectorXd& packed, VectorXd* gradient) {
    const double value = -LogCoregionalizationPosterior(
        observations_, group_of_column_, options_.priors, tasks, latents, packed, gradient);
    if (gradient != nullptr) *gradient = -*gradient;
    return value;
  };
  const VectorXd lower = PackBounds(groups, tasks, latents, 1e-2, -30, 1e-4, options_.min_noise);
  const VectorXd upper = PackBounds(groups, tasks, latents, 1e3, 30, 1e2, 10);
  const MinimizeOptions options{
      .max_evaluations = search ? options_.search_evaluations : options_.refine_evaluations,
      .relative_tolerance = 1e-4};
  double least = std::numeric_limits<double>::infinity();
  parameters_ = starts.front();
  for (const Coregionalization& start : starts) {
    double value;
    const VectorXd end = Minimize(negated, start.Pack(), lower, upper, options, value);
    if (!(value < least)) continue;
    least = value;
    parameters_ = Coregionalization::Unpack(end, groups, tasks, latents);
  }
  if (search) searched_at_ = count;
}

void MultiTaskGaussianProcess::Factorize() {
  const Index count = observations_.rows.rows();
  MatrixXd covariance(count, count);
  Index at = 0;
  while (at < count) {  // task by task: the rows of a task lie together, but for those added
    const int task = observations_.tasks[at];
    Index end = at;
    while (end < count && observations_.tasks[end] == task) ++end;
    covariance.middleCols(at, end - at) =
        parameters_.Covariance(observations_.rows, observations_.tasks,
                               observations_.rows.middleRows(at, end - at), task, group_of_column_);
    at = end;
  }
  for (Index i = 0; i < count; ++i) {
    covariance(i, i) +=
        kNugget * covariance(i, i) + parameters_.noise_variance(observations_.tasks[i]);
  }
  for (double jitter = kNugget; !factor_.Reset(covariance); jitter *= 10) {
    if (jitter > 1) throw FitFailure("the covariance of the observations has no Cholesky factor");
    covariance.diagonal() *= 1 + jitter;
  }
  ComputeWeights();
}

void MultiTaskGaussianProcess::ComputeWeights() {
  MatrixXd half_means = TaskIndicators(observations_.tasks, parameters_.tasks());
  MatrixXd half_values = observations_.values;
  factor_.SolveLower(half_means);
  factor_.SolveLower(half_values);
  means_ = TaskMeans(half_means, half_values, options_.priors.mean_deviation);
  VectorXd residual = observations_.values;
  for (Index i = 0; i < residual.size(); ++i) residual(i) -= means_(observations_.tasks[i]);
  weights_ = factor_.Solve(residual);
}

void MultiTaskGaussianProcess::Add(int task, const RowMatrix& rows, const VectorXd& values) {
  CheckFinite(values);
  const std::vector<int> tasks(rows.rows(), task);
  MatrixXd corner = parameters_.Covariance(rows, tasks, rows, task, group_of_column_);
  corner.diagonal() *= 1 + kNugget;
  corner.diagonal().array() += parameters_.noise_variance(task);
  const MatrixXd cross =
      parameters_.Covariance(observations_.rows, observations_.tasks, rows, task, group_of_column_);

  const Index known = observations_.rows.rows(), added = rows.rows();
  observations_.rows.conservativeResize(known + added, Eigen::NoChange);
  observations_.rows.bottomRows(added) = rows;
  observations_.values.conservativeResize(known + added);
  observations_.values.tail(added) = scales_[task].Apply(values);
  observations_.tasks.insert(observations_.tasks.end(), added, task);
  if (factor_.Append(cross, corner)) {
    ComputeWeights();
  } else {
    Factorize();
  }
}

void MultiTaskGaussianProcess::Predict(int task, const RowMatrix& rows, VectorXd& mean,
                                       VectorXd& variance) const {
  double prior = 0;
  for (const LatentProcess& latent : parameters_.latents) {
    prior += latent.TaskCovariance()(task, task);
  }
  mean.resize(rows.rows());
  variance.resize(rows.rows());
  for (Index begin = 0; begin < rows.rows(); begin += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.rows() - begin);
    MatrixXd cross = parameters_.Covariance(observations_.rows, observations_.tasks,
                                            rows.middleRows(begin, size), task, group_of_column_);
    mean.segment(begin, size) = (cross.transpose() * weights_).array() + means_(task);
    factor_.SolveLower(cross);
    variance.segment(begin, size) =
        (prior - cross.colwise().squaredNorm().transpose().array()).max(prior * kNugget);
  }
}

MatrixXd MultiTaskGaussianProcess::TaskCorrelation() const {
  const int tasks = parameters_.tasks();
  MatrixXd covariance = MatrixXd::Zero(tasks, tasks);
  for (const LatentProcess& latent : parameters_.latents) covariance += latent.TaskCovariance();
  const VectorXd scale = covariance.diagonal().cwiseSqrt().cwiseInverse();
  return scale.asDiagonal() * covariance * scale.asDiagonal();
}

TransferSurrogate::TransferSurrogate(ColumnGroups group_of_column,
                                     std::vector<TaskObservations> earlier,
                                     MultiTaskOptions options)
    : tasks_(std::move(earlier)),
      target_(static_cast<int>(tasks_.size())),
      model_(std::move(group_of_column), options) {
  tasks_.emplace_back();
}

void TransferSurrogate::Fit(const RowMatrix& rows, const VectorXd& values,
                            base::RandomStream& random) {
  tasks_.back() = {rows, values};
  model_.Fit(tasks_, random);
}

std::unique_ptr<Surrogate> TransferSurrogate::Clone() const {
  return std::make_unique<TransferSurrogate>(*this);
}

}  // namespace bayloom::model
