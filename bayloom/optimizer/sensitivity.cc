// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/sensitivity.h"

#include <algorithm>
#include <map>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/sobol_indices.h"
#include "bayloom/optimizer/bayes/features.h"

namespace bayloom::optimizer {
namespace {

constexpr int kIndependentDraws = 1024;

/// Independent draws of all parameters.
model::RowMatrix DrawRows(const space::Space& space, const Features& features,
                          base::RandomStream& random) {
  std::vector<space::Configuration> drawn(kIndependentDraws);
  for (space::Configuration& configuration : drawn) {
    for (int i = 0; i < space.size(); ++i) {
      configuration.coordinates.push_back(space.parameter(i).Sample(random));
    }
    configuration = space.Settled(std::move(configuration));
  }
  return features(drawn);
}

/// A parameter of another space, which it keeps alive.
class Borrowed final : public space::Parameter {
 public:
  Borrowed(std::shared_ptr<const space::Space> owner, int parameter)
      : space::Parameter(owner->parameter(parameter).name()),
        owner_(std::move(owner)),
        lent_(owner_->parameter(parameter)) {}

  space::ParameterKind kind() const override { return lent_.kind(); }
  std::string Describe() const override { return lent_.Describe(); }
  int64_t Cardinality() const override { return lent_.Cardinality(); }
  space::Value ValueAt(double coordinate) const override { return lent_.ValueAt(coordinate); }
  Result<double> CoordinateOf(const space::Value& value) const override {
    return lent_.CoordinateOf(value);
  }
  double NumberAt(double coordinate) const override { return lent_.NumberAt(coordinate); }
  int ElementCount() const override { return lent_.ElementCount(); }
  void ElementsAt(double coordinate, std::span<int64_t> elements) const override {
    lent_.ElementsAt(coordinate, elements);
  }
  int EmbeddingSize() const override { return lent_.EmbeddingSize(); }
  void Embed(double coordinate, std::span<double> point) const override {
    lent_.Embed(coordinate, point);
  }
  double Sample(base::RandomStream& random) const override { return lent_.Sample(random); }
  std::vector<double> Neighbours(double coordinate, base::RandomStream& random) const override {
    return lent_.Neighbours(coordinate, random);
  }
  double Position(double coordinate) const override { return lent_.Position(coordinate); }
  double AtPosition(double position) const override { return lent_.AtPosition(position); }

 private:
  std::shared_ptr<const space::Space> owner_;
  const space::Parameter& lent_;
};

}  // namespace

std::vector<ParameterSensitivity> RankParameters(
    std::shared_ptr<const space::Space> space, std::span<const space::Configuration> configurations,
    std::span<const double> values, base::RandomStream& random) {
  const Features features(space);
  model::GaussianProcess process(features.group_of_column());
  try {
    process.Fit(features(configurations),
                Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values)), random);
  } catch (const model::FitFailure&) {
    return {};
  }

  // A parameter that can be halved has two groups of columns, which are one here.
  const std::vector<int> parameter_of_group = features.parameter_of_group();
  std::map<int, int> place;
  std::vector<ParameterSensitivity> ranking;
  model::ColumnGroups columns;
  for (int group : features.group_of_column()) {
    const int parameter = parameter_of_group[static_cast<size_t>(group)];
    const auto [found, is_new] = place.try_emplace(parameter, static_cast<int>(ranking.size()));
    if (is_new) ranking.push_back({parameter, {}});
    columns.push_back(found->second);
  }
  const auto mean = [&](const model::RowMatrix& rows) {
    Eigen::VectorXd predicted, variance;
    process.Predict(rows, predicted, variance);
    return predicted;
  };
  const model::RowMatrix a = DrawRows(*space, features, random),
                         b = DrawRows(*space, features, random);
  const std::vector<model::SobolIndex> indices = model::SobolIndices(mean, a, b, columns, random);
  for (size_t i = 0; i < ranking.size(); ++i) ranking[i].index = indices[i];
  std::ranges::stable_sort(ranking, std::greater<>(), [](const ParameterSensitivity& sensitivity) {
    return sensitivity.index.total.value;
  });
  return ranking;
}

std::shared_ptr<const space::Space> Subspace(const std::shared_ptr<const space::Space>& space,
                                             std::span<const int> parameters) {
  space::Space::Builder builder;
  for (int parameter : parameters) builder.Add(std::make_unique<Borrowed>(space, parameter));
  Result<std::shared_ptr<const space::Space>> built = builder.Build();
  if (!built) throw InputError(built.error().message);
  return *std::move(built);
}

}  // namespace bayloom::optimizer
