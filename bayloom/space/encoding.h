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
/// A conditional parameter has one column more, and its points are where the arc kernel has them
/// (Swersky, Duvenaud, Snoek, Hutter and Osborne 2014, "Raiders of the lost architecture: kernels
/// for Bayesian optimization in conditional parameter spaces"): all that are active lie on a part
/// of a sphere of radius 1, and the inactive one is its centre. So two configurations in which it
/// is inactive are equal in it; one in which it is active is at distance 1 from one in which it is
/// not, for any of its values. The part is small: numbers are at most a sixth farther apart than
/// without a condition (near the ends of a range), and those at its ends as far.
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
  /// The first column of a parameter; of the number of parameters, columns().
  int FirstColumn(int parameter) const { return first_[static_cast<size_t>(parameter)]; }
  /// Writes columns() numbers.
  void Encode(const Configuration& configuration, std::span<double> row) const;
  /// Makes the row of one configuration that of another, and gives the parameters whose columns it
  /// wrote. As Encode, but takes only as long as they are different.
  void Change(const Configuration& from, const Configuration& to, std::span<double> row,
              std::vector<int>& written) const;

 private:
  void WriteActive(int parameter, const Configuration& configuration, std::span<double> row) const;
  void WriteInactive(int parameter, std::span<double> row) const;

  std::shared_ptr<const Space> space_;
  std::vector<int> groups_;
  std::vector<int> first_;
  std::vector<std::vector<double>> centres_;  ///< by parameter; empty unless it is conditional
};

}  // namespace bayloom::space
