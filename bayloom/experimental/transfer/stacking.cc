// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/transfer/stacking.h"

#include <utility>

namespace bayloom::experimental {
namespace {

using Eigen::VectorXd;

/// Layers see standardized objectives and residuals of them, which have no logarithm.
model::GaussianProcessOptions ForResiduals(model::GaussianProcessOptions options) {
  options.scale = model::ObjectiveScale::kLinear;
  return options;
}

}  // namespace

StackedSurrogate::StackedSurrogate(model::ColumnGroups group_of_column,
                                   std::vector<model::TaskObservations> earlier,
                                   model::GaussianProcessOptions options)
    : options_(std::move(options)),
      earlier_(std::move(earlier)),
      untrained_(std::move(group_of_column), ForResiduals(options_)) {}

void StackedSurrogate::Fit(const model::RowMatrix& rows, const VectorXd& values,
                           base::RandomStream& random) {
  for (size_t i = layers_.size(); i < earlier_.size(); ++i) {
    const VectorXd& known = earlier_[i].values;
    AddLayer(untrained_, earlier_[i].rows,
             model::Standardizer::Choose(known, options_.scale).Apply(known), random);
  }
  scale_ = model::Standardizer::Choose(values, options_.scale);
  model::GaussianProcess target = untrained_;
  if (layers_.size() > earlier_.size()) {  // refit: it knows its hyperparameters
    target = std::move(layers_.back());
    layers_.pop_back();
  }
  AddLayer(std::move(target), rows, scale_.Apply(values), random);
}

void StackedSurrogate::AddLayer(model::GaussianProcess layer, const model::RowMatrix& rows,
                                const VectorXd& standard, base::RandomStream& random) {
  layer.Fit(rows, Residuals(rows, standard, layers_.size()), random);
  layers_.push_back(std::move(layer));
}

VectorXd StackedSurrogate::Residuals(const model::RowMatrix& rows, const VectorXd& standard,
                                     size_t layers) const {
  VectorXd mean, variance;
  PredictWith(layers, rows, mean, variance);
  return standard - mean;
}

void StackedSurrogate::Add(const model::RowMatrix& rows, const VectorXd& values) {
  model::CheckFinite(values);
  layers_.back().Add(rows, Residuals(rows, scale_.Apply(values), earlier_.size()));
}

void StackedSurrogate::Predict(const model::RowMatrix& rows, VectorXd& mean,
                               VectorXd& variance) const {
  PredictWith(layers_.size(), rows, mean, variance);
}

void StackedSurrogate::PredictWith(size_t layers, const model::RowMatrix& rows, VectorXd& mean,
                                   VectorXd& variance) const {
  mean = VectorXd::Zero(rows.rows());
  VectorXd layer_mean, layer_variance, log_variance = mean;
  double before = 0;  // observations of the layer below
  for (size_t i = 0; i < layers; ++i) {
    const model::GaussianProcess& layer = layers_[i];
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

std::unique_ptr<model::Surrogate> StackedSurrogate::Clone() const {
  return std::make_unique<StackedSurrogate>(*this);
}

}  // namespace bayloom::experimental
