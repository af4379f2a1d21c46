#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/space/encoding.h"
#include "bayloom/space/space.h"

namespace bayloom {

/// What surrogates see of a configuration: the embeddings of the parameters that vary, and how
/// often whole numbers can be halved.
///
/// Compilers and hardware care for powers of two (vectors, warps, cache lines, alignment), so of
/// two sizes that are near, 48 and 64, one may do well and the other not, while 64 and 128 do
/// alike. A column of its own, with a length-scale of its own, lets a surrogate learn by how much.
class Features {
 public:
  explicit Features(std::shared_ptr<const Space> space);

  int columns() const { return static_cast<int>(sources_.size()); }
  /// The group of each column, from 0 on; a parameter has one, or two if it can be halved.
  const std::vector<int>& group_of_column() const { return groups_; }

  /// One row a configuration.
  RowMatrix operator()(std::span<const Configuration> configurations) const;

 private:
  /// Where a column comes from: a column of the encoding, or halvings of a parameter.
  struct Source {
    int column = -1;
    int parameter = -1;
    double most_halvings = 1;
  };

  std::shared_ptr<const Space> space_;
  Encoding encoding_;
  std::vector<Source> sources_;
  std::vector<int> groups_;
};

}  // namespace bayloom
