// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// What was computed of a model's initializers, for further imports of the model: weights are
/// converted, permuted and packed once for all lengths.
///
/// A result is kept if all that it was computed of is an initializer or a kept result, and some of
/// that is as large: tables and masks, which may be other ones for other lengths, are not kept.
class FoldedConstants {
 public:
  using Constant = std::shared_ptr<const tensor::HostTensor>;

  /// An initializer, which every import has at this place.
  void AddShared(const Constant& initializer);

  /// The result of the stage, of operands that `constant_of` tells, if it is kept; else what
  /// `compute` gives. The result has the stage's own shape.
  Constant OfStage(const tensor::Stage& stage, const std::function<Constant(ValueId)>& constant_of,
                   const std::function<Constant()>& compute);
  /// The same elements under another shape.
  Constant OfView(const Constant& source, const std::vector<int64_t>& shape);

 private:
  /// The constant under a key that names all it is made of, `operands` among them.
  Constant Keep(const std::string& key, const std::vector<Constant>& operands,
                const std::function<Constant()>& compute);

  std::unordered_map<std::string, Constant> results_;
  std::unordered_map<const tensor::HostTensor*, Constant> shared_;  ///< at the places of operands
};

}  // namespace bayloom::graph
