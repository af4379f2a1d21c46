// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/size_table.h"

namespace bayloom::graph {

ValueId SizeTable::Of(const Length& length) {
  for (ValueId size : sizes_) {
    if (graph_.values[size].size == length) return size;
  }
  Value value{length.ToString(graph_.symbols), tensor::DType::kInt64, {}, nullptr};
  value.size = length;
  graph_.values.push_back(std::move(value));
  return sizes_.emplace_back(static_cast<ValueId>(graph_.values.size()) - 1);
}

tensor::Expr SizeTable::Integer(const Length& number) {
  if (const auto constant = number.AsConstant()) return tensor::IntLiteral(*constant);
  for (ValueId size : sizes_) {
    const Length& length = *graph_.values[size].size;
    if (const auto rest = (number - length).AsConstant()) return tensor::SizeOf(size) + *rest;
    if (const auto rest = (number + length).AsConstant()) {
      return *rest == 0 ? -tensor::SizeOf(size) : tensor::Expr(*rest) - tensor::SizeOf(size);
    }
  }
  const bool is_negative = number.Range(graph_.symbols).largest < 0;
  return is_negative ? -tensor::SizeOf(Of(Length() - number)) : tensor::SizeOf(Of(number));
}

tensor::Expr SizeTable::Expression(const Length& number, tensor::DType dtype) {
  return tensor::Cast(dtype, Integer(number));
}

}  // namespace bayloom::graph
