// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/small_values.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "bayloom/base/result.h"

namespace bayloom::graph {

void SmallValues::Note(const tensor::Tensor& tensor, const SmallType* small) {
  if (small) types_[tensor.id()] = small;
}

const SmallType* SmallValues::Find(const tensor::Tensor& tensor) const {
  const auto found = types_.find(tensor.id());
  return found == types_.end() ? nullptr : found->second;
}

std::vector<const SmallType*> SmallValues::TypesOf(const Tensors& tensors) const {
  std::vector<const SmallType*> types;
  for (const auto& tensor : tensors) types.push_back(tensor ? Find(*tensor) : nullptr);
  return types;
}

void CheckSmallTypes(const Schema& schema, const std::vector<const SmallType*>& small) {
  static const std::set<std::string_view> kMoving = {"Cast",
                                                     "CastLike",
                                                     "Constant",
                                                     "ConstantOfShape",
                                                     "DequantizeLinear",
                                                     "Dropout",
                                                     "Flatten",
                                                     "Identity",
                                                     "If",
                                                     "IsInf",
                                                     "IsNaN",
                                                     "Loop",
                                                     "Pad",
                                                     "QuantizeLinear",
                                                     "Reshape",
                                                     "Scan",
                                                     "Shape",
                                                     "Size",
                                                     "Squeeze",
                                                     "Transpose",
                                                     "Unsqueeze"};
  if (schema.domain.empty() && kMoving.contains(schema.name)) return;
  for (size_t i = 0; i < small.size(); ++i) {
    if (!small[i]) continue;
    throw InputError(
        fmt::format("input {} is of {}, which may be moved and converted only", i, small[i]->name));
  }
}

const SmallType* SmallOutputType(const Schema& schema, int output,
                                 const std::vector<const SmallType*>& small) {
  const SchemaParameter* wanted = Schema::At(schema.outputs, static_cast<size_t>(output));
  if (!wanted || wanted->type.empty() || !wanted->is_homogeneous) return nullptr;
  for (size_t i = 0; i < small.size(); ++i) {
    const SchemaParameter* parameter = Schema::At(schema.inputs, i);
    if (small[i] && parameter && parameter->type == wanted->type) return small[i];
  }
  return nullptr;
}

}  // namespace bayloom::graph
