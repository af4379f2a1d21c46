// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/optimizer/feature_options.h"
#include "bayloom/space/encoding.h"
#include "bayloom/space/space.h"

namespace bayloom::optimizer {

/// What surrogates see of a configuration: the embeddings of the parameters that vary, how often
/// whole numbers can be halved and, where asked for, the quantities that known constraints compare.
///
/// Compilers and hardware care for powers of two (vectors, warps, cache lines, alignment), so of
/// two sizes that are near, 48 and 64, one may do well and the other not, while 64 and 128 do
/// alike. And constraints are written because a product of parameters is a resource: threads of
/// a block, bytes of a tile; what takes equally much of it is alike as well. A column of its own,
/// with a length-scale of its own, lets a surrogate learn by how much.
class Features {
 public:
  explicit Features(std::shared_ptr<const space::Space> space, FeatureOptions options = {});

  int columns() const { return static_cast<int>(sources_.size()); }
  /// The group of each column, from 0 on: one for each parameter, each parameter's halvings and
  /// each quantity.
  const std::vector<int>& group_of_column() const { return groups_; }
  /// "tile[0]", "tile[1]", "tile halved": what two spaces call the same means the same.
  std::vector<std::string> ColumnNames() const;
  /// The parameter behind each group; -1 of a quantity.
  std::vector<int> parameter_of_group() const;

  /// One row a configuration. Takes the less time the less each differs from the one before it.
  model::RowMatrix operator()(std::span<const space::Configuration> configurations) const;

 private:
  /// Maps the numbers that occur to [0, 1], by their logarithm where they span much.
  struct Range {
    double least = 0, most = 1;
    bool is_log = false;
    double operator()(double value) const;
  };
  /// Where a column comes from.
  struct EncodedColumn {
    int column;
  };
  struct ParameterValue {
    int parameter;
    Range range;
  };
  struct ParameterHalvings {
    int parameter;
    int most;
  };
  struct Quantity {
    int index;
    Range range;
  };
  using Source = std::variant<EncodedColumn, ParameterValue, ParameterHalvings, Quantity>;

  /// -1 of a quantity.
  int ParameterOf(const Source& source) const;
  void Add(Source source, int group);
  void AddParameter(int parameter, int& group, FeatureOptions options);
  void AddQuantities(int& group);
  double Read(const Source& source, const space::Configuration& configuration,
              std::span<const double> embedding) const;

  std::shared_ptr<const space::Space> space_;
  space::Encoding encoding_;
  std::vector<Source> sources_;
  std::vector<int> first_;  ///< by parameter, its first column; at last that of the quantities
  std::vector<int> groups_;
};

}  // namespace bayloom::optimizer
