// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::space {

/// Configurations as rows of numbers for surrogate models: the embeddings of all parameters, one
/// after the other. Within a parameter's columns, Euclidean distance is the parameter's distance.
///
///     Encoding encoding(*space);
///     std::vector<double> row(encoding.columns());
///     encoding.Encode(configuration, row);
class Encoding {
 public:
  explicit Encoding(std::shared_ptr<const Space> space);

  int columns() const { return static_cast<int>(groups_.size()); }
  /// The parameter each column belongs to; columns of a parameter are neighbours.
  std::span<const int> group_of_column() const { return groups_; }
  /// Writes columns() numbers.
  void Encode(const Configuration& configuration, std::span<double> row) const;

 private:
  std::shared_ptr<const Space> space_;
  std::vector<int> groups_;
};

}  // namespace bayloom::space
