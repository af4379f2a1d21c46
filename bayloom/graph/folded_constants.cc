// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/folded_constants.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace bayloom::graph {
namespace {

using Constant = FoldedConstants::Constant;

/// Writes what a constant is made of as bytes that no other one has.
class KeyWriter {
 public:
  template <typename T>
  void Add(T value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_same_v<T, double>);
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void AddPlace(const Constant& constant) { Add(reinterpret_cast<uintptr_t>(constant.get())); }
  void AddShape(const std::vector<int64_t>& shape) {
    Add(shape.size());
    for (int64_t extent : shape) Add(extent);
  }
  void AddExpr(const tensor::Expr& e, const std::function<Constant(ValueId)>& constant_of) {
    Add(e->op);
    Add(e->dtype);
    Add(e->int_value);
    Add(e->float_value);
    Add(e->operands.size());
    if (e->op == tensor::ExprOp::kLoad) {
      operands_.push_back(constant_of(e->index));
      AddPlace(operands_.back());
    } else {
      Add(e->index);
    }
    for (const tensor::Expr& operand : e->operands) AddExpr(operand, constant_of);
  }
  const std::string& key() const { return key_; }
  const std::vector<Constant>& operands() const { return operands_; }

 private:
  std::string key_;
  std::vector<Constant> operands_;
};

}  // namespace

void FoldedConstants::AddShared(const Constant& initializer) {
  shared_.emplace(initializer.get(), initializer);
}

Constant FoldedConstants::Keep(const std::string& key, const std::vector<Constant>& operands,
                               const std::function<Constant()>& compute) {
  const bool are_shared =
      !operands.empty() && std::ranges::all_of(operands, [&](const Constant& operand) {
        return shared_.contains(operand.get());
      });
  if (!are_shared) return compute();
  if (const auto known = results_.find(key); known != results_.end()) return known->second;
  Constant result = compute();
  const bool is_from_as_many = std::ranges::any_of(operands, [&](const Constant& operand) {
    return operand->ElementCount() >= result->ElementCount();
  });
  if (!is_from_as_many) return result;
  results_.emplace(key, result);
  shared_.emplace(result.get(), result);
  return result;
}

Constant FoldedConstants::OfStage(const tensor::Stage& stage,
                                  const std::function<Constant(ValueId)>& constant_of,
                                  const std::function<Constant()>& compute) {
  KeyWriter writer;
  writer.Add(stage.reduction);
  writer.Add(stage.iters.size());
  for (const tensor::Iter& iter : stage.iters) {
    writer.Add(iter.extent);
    writer.Add(iter.kind);
  }
  writer.AddExpr(stage.value, constant_of);
  return Keep(writer.key(), writer.operands(), compute);
}

Constant FoldedConstants::OfView(const Constant& source, const std::vector<int64_t>& shape) {
  KeyWriter writer;
  writer.AddPlace(source);
  writer.AddShape(shape);
  return Keep(writer.key(), {source}, [&] {
    return std::make_shared<const tensor::HostTensor>(source->dtype, shape, source->data);
  });
}

}  // namespace bayloom::graph
