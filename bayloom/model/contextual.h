// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

/// A surrogate of one task that also learns from earlier ones, by numbers that say what each task
/// is (GPTune's task parameters, Kannan 2023, sec. V): one Gaussian process over parameters and
/// task,
///
///     cov((x, s), (x', s')) = v k(x, x') k(s, s'),
///
/// with a single length-scale for tasks, which says how far apart tasks are still alike. It has the
/// fewest numbers to learn of all ways to put tasks together, but assumes that objectives are
/// alike in height too.
class ContextualSurrogate final : public Surrogate {
 public:
  /// `contexts` has a row for each earlier task, then one for the target.
  ContextualSurrogate(ColumnGroups group_of_column, std::vector<TaskObservations> earlier,
                      RowMatrix contexts, GaussianProcessOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override {
    process_.Add(WithContext(rows, contexts_.rows() - 1), values);
  }
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override {
    process_.Predict(WithContext(rows, contexts_.rows() - 1), mean, variance);
  }
  double Transform(double value) const override { return process_.Transform(value); }
  double Untransform(double prediction) const override { return process_.Untransform(prediction); }
  std::unique_ptr<Surrogate> Clone() const override;

  const GaussianProcess& process() const { return process_; }

 private:
  RowMatrix WithContext(const RowMatrix& rows, Eigen::Index task) const;

  std::vector<TaskObservations> earlier_;
  RowMatrix contexts_;
  GaussianProcess process_;
};

}  // namespace bayloom::model
