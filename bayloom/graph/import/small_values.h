// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "bayloom/graph/import/schema_table.h"
#include "bayloom/graph/import/small_types.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// Which values of a graph under construction are of small types: the graph has their holders.
class SmallValues {
 public:
  using Tensors = std::vector<std::optional<tensor::Tensor>>;

  /// `small` may be null: the values are of the tensor's own type.
  void Note(const tensor::Tensor& tensor, const SmallType* small);
  /// Null: the values are of the tensor's own type.
  const SmallType* Find(const tensor::Tensor& tensor) const;
  /// The same for each tensor.
  std::vector<const SmallType*> TypesOf(const Tensors& tensors) const;

 private:
  std::unordered_map<tensor::BufferId, const SmallType*> types_;
};

/// Refuses operators that would compute with values of small types: those that move or convert
/// values can be given them. `small` is parallel to the inputs; null: another type.
void CheckSmallTypes(const Schema& schema, const std::vector<const SmallType*>& small);

/// The small type of an output that has the type of an input which has one; else null.
const SmallType* SmallOutputType(const Schema& schema, int output,
                                 const std::vector<const SmallType*>& small);

}  // namespace bayloom::graph
