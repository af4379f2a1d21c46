// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/hyperparameters.h"

#include <algorithm>
#include <cmath>

namespace bayloom::model {

double UsualLengthScale(Eigen::Index groups) {
  return std::max(1.0, std::sqrt(static_cast<double>(groups) / 2) - 3.5);
}

Eigen::VectorXd KernelHyperparameters::ToLogs() const {
  Eigen::VectorXd logs(length_scales.size() + 2);
  logs << length_scales, signal_variance, noise_variance;
  return logs.array().log();
}

KernelHyperparameters KernelHyperparameters::FromLogs(const Eigen::VectorXd& logs) {
  const Eigen::VectorXd values = logs.array().exp();
  const Eigen::Index groups = values.size() - 2;
  return {values.head(groups), values(groups), values(groups + 1)};
}

double KernelPriors::LogDensity(const KernelHyperparameters& at, Eigen::VectorXd* gradient) const {
  double density = 0;
  auto add = [&](const std::optional<GammaPrior>& prior, double value, Eigen::Index index) {
    if (!prior) return;
    density += prior->LogDensity(value);
    if (gradient != nullptr) (*gradient)(index) += prior->Slope(value);
  };
  const Eigen::Index groups = at.length_scales.size();
  const double unit = UsualLengthScale(groups);
  for (Eigen::Index group = 0; group < groups; ++group) {
    add(length_scale, at.length_scales(group) / unit, group);
  }
  add(signal_variance, at.signal_variance, groups);
  add(noise_variance, at.noise_variance, groups + 1);
  return density;
}

}  // namespace bayloom::model
