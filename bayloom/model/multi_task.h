// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "bayloom/model/cholesky.h"
#include "bayloom/model/coregionalization.h"
#include "bayloom/model/standardizer.h"
#include "bayloom/model/surrogate.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

struct MultiTaskOptions {
  int latents = 2;  ///< latent processes; at most as many as tasks are used
  ObjectiveScale scale = ObjectiveScale::kAuto;
  CoregionalizationPriors priors;
  double min_noise = 1e-6;
  int random_starts = 2;        ///< climbed from, beside the usual one
  int search_evaluations = 60;  ///< of the posterior, for each start
  int refine_evaluations = 20;  ///< where the last fit is still good to start from
  double search_growth = 1.5;   ///< as in GaussianProcessOptions
};

/// A Gaussian process over several tasks that learn from each other: the same parameters, other
/// objectives (another accelerator, another shape). The linear coregionalization model of GPTune's
/// multi-task learning (Kannan 2023, sec. III), with a constant mean a task.
///
/// All tasks share a scale: the objective or its logarithm, less the task's own mean, over the
/// deviation within tasks.
class MultiTaskGaussianProcess {
 public:
  explicit MultiTaskGaussianProcess(ColumnGroups group_of_column, MultiTaskOptions options = {});

  /// At least one observation in all.
  void Fit(std::span<const TaskObservations> tasks, base::RandomStream& random);
  void Add(int task, const RowMatrix& rows, const Eigen::VectorXd& values);
  void Predict(int task, const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const;
  double Transform(int task, double value) const { return scales_[task].Apply(value); }
  double Untransform(int task, double prediction) const { return scales_[task].Invert(prediction); }

  /// tasks x tasks, from -1 to 1: how similar the tasks are by the model.
  Eigen::MatrixXd TaskCorrelation() const;
  const Coregionalization& parameters() const { return parameters_; }

 private:
  void Pool(std::span<const TaskObservations> tasks);
  void Learn(base::RandomStream& random);
  void Factorize();
  void ComputeWeights();

  ColumnGroups group_of_column_;
  MultiTaskOptions options_;
  std::vector<Standardizer> scales_;  ///< one a task
  PooledObservations observations_;
  Coregionalization parameters_;
  int searched_at_ = 0;

  GrowingCholesky factor_;
  Eigen::VectorXd means_;    ///< one a task, on the scale of predictions
  Eigen::VectorXd weights_;  ///< inverse covariance times (values - means)
};

/// A surrogate of one task that also learns from earlier ones, whose observations are given once
/// and for all.
class TransferSurrogate final : public Surrogate {
 public:
  TransferSurrogate(ColumnGroups group_of_column, std::vector<TaskObservations> earlier,
                    MultiTaskOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override {
    model_.Add(target_, rows, values);
  }
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override {
    model_.Predict(target_, rows, mean, variance);
  }
  double Transform(double value) const override { return model_.Transform(target_, value); }
  double Untransform(double prediction) const override {
    return model_.Untransform(target_, prediction);
  }
  std::unique_ptr<Surrogate> Clone() const override;

  const MultiTaskGaussianProcess& model() const { return model_; }

 private:
  std::vector<TaskObservations> tasks_;  ///< the earlier ones, then the target
  int target_;
  MultiTaskGaussianProcess model_;
};

}  // namespace bayloom::model
