// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/stacking.h"

#include <utility>

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

/// Layers see standardized objectives and residuals of them, which have no logarithm.
GaussianProcessOptions ForResiduals(GaussianProcessOptions options) {
  options.scale = ObjectiveScale::kLinear;
  return options;
}

}  // namespace

StackedSurrogate::StackedSurrogate(ColumnGroups group_of_column,
                                   std::vector<TaskObservations> earlier,
                                   GaussianProcessOptions options)
    : options_(std::move(options)),
      earlier_(std::move(earlier)),
      untrained_(std::move(group_of_column), ForResiduals(options_)) {}

void StackedSurrogate::Fit(const RowMatrix& rows, const VectorXd& values,
                           base::RandomStream& random) {
  for (size_t i = layers_.size(); i < earlier_.size(); ++i) {
    const VectorXd& known = earlier_[i].values;
    AddLayer(untrained_, earlier_[i].rows, Standardizer::Choose(known, options_.scale).Apply(known),
             random);
  }
  scale_ = Standardizer::Choose(values, options_.scale);
  GaussianProcess target = untrained_;
  if (layers_.size() > earlier_.size()) {  // refit: it knows its hyperparameters
    target = std::move(layers_.back());
    layers_.pop_back();
  }
  AddLayer(std::move(target), rows, scale_.Apply(values), random);
}

void StackedSurrogate::AddLayer(GaussianProcess layer, const RowMatrix& rows,
                                const VectorXd& standard, base::RandomStream& random) {
  layer.Fit(rows, Residuals(rows, standard, layers_.size()), random);
  layers_.push_back(std::move(layer));
}

VectorXd StackedSurrogate::Residuals(const RowMatrix& rows, const VectorXd& standard,
                                     size_t layers) const {
  VectorXd mean, variance;
  PredictWith(layers, rows, mean, variance);
  return standard - mean;
}

void StackedSurrogate::Add(const RowMatrix& rows, const VectorXd& values) {
  CheckFinite(values);
  layers_.back().Add(rows, Residuals(rows, scale_.Apply(values), earlier_.size()));
}

void StackedSurrogate::Predict(const RowMatrix& rows, VectorXd& mean, VectorXd& variance) const {
  PredictWith(layers_.size(), rows, mean, variance);
}

void StackedSurrogate::PredictWith(size_t layers, const RowMatrix& rows, VectorXd& mean,
                                   VectorXd& variance) const {
  mean = VectorXd::Zero(rows.rows());
  VectorXd layer_mean, layer_variance, log_variance = mean;
  double before = 0;  // observations of the layer below
  for (size_t i = 0; i < layers; ++i) {
    const GaussianProcess& layer = layers_[i];
    layer.Predict(rows, layer_mean, layer_variance);
    const double shift = layer.Untransform(0), spread = layer.Untransform(1) - shift;
    mean.array() += shift + spread * layer_mean.array();
    const double share = layer.observations() / (layer.observations() + before);
    log_variance = share * (spread * spread * layer_variance.array()).log() +
                   (1 - share) * log_variance.array();
    before = layer.observations();
  }
  variance = log_variance.array().exp();
}

std::unique_ptr<Surrogate> StackedSurrogate::Clone() const {
  return std::make_unique<StackedSurrogate>(*this);
}

}  // namespace bayloom::model
