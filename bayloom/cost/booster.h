// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bayloom::cost {

/// A dense row-major matrix of floats; not owned.
struct DenseRows {
  std::span<const float> values;
  int rows = 0;
  int columns = 0;
};

/// XGBoost's boosted trees as far as cost models need them: dense rows, an objective given by
/// derivatives. What XGBoost refuses is thrown as std::runtime_error with its message.
class Booster {
 public:
  /// XGBoost's own parameter names.
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  /// No trees yet, to be trained on `data` (which is copied).
  Booster(const DenseRows& data, const Parameters& parameters);
  /// What Save gave. To be trained further, it needs training data.
  Booster(std::string_view bytes, const Parameters& parameters);

  /// Changes what the next trees are trained on; the rows are copied.
  void SetTrainingData(const DenseRows& data);
  /// The trees' sums on the training data, kept up to date as trees are added; valid until the
  /// next call of any method.
  std::span<const float> TrainingPredictions() const;
  /// Adds a tree that follows the derivatives of the loss by each training row's prediction.
  void Boost(std::span<float> gradient, std::span<float> curvature);
  /// Forgets the trees after the first `rounds` (at least 1).
  void Truncate(int rounds);

  int rounds() const;
  std::vector<float> Predict(const DenseRows& data) const;

  /// What the splits at each of the data's columns gained in all.
  std::vector<double> ColumnGains(int columns) const;

  /// A note kept with the trees; empty if never set.
  std::string Attribute(const std::string& name) const;
  void SetAttribute(const std::string& name, const std::string& value);
  std::string Save() const;

 private:
  void SetParameters(const Parameters& parameters);

  std::shared_ptr<void> data_;
  std::shared_ptr<void> trees_;
};

}  // namespace bayloom::cost
