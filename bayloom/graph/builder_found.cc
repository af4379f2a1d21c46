// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// GraphBuilder: lengths that are found when a network runs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/found_lengths.h"
#include "bayloom/graph/import.h"
#include "bayloom/tensor/simplify.h"

namespace bayloom::graph {
namespace {

/// Nodes that are looked through for one element.
constexpr int kMaxSeenThrough = 256;
/// Elements of a tensor whose elements are computed one by one.
constexpr int64_t kMaxComputedElements = 64;

std::vector<int64_t> PlaceOfNumber(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) place[d] = element % shape[d];
  return place;
}

std::optional<std::vector<int64_t>> AsKnownPlace(const std::vector<tensor::Expr>& indices) {
  std::vector<int64_t> numbers;
  for (const tensor::Expr& index : indices) {
    if (index->op != tensor::ExprOp::kInt) return std::nullopt;
    numbers.push_back(index->int_value);
  }
  return numbers;
}

/// What tells lengths apart: no length is below 0.
tensor::Expr KeyOf(const tensor::Expr& count) {
  const bool is_limited =
      count->op == tensor::ExprOp::kMax && tensor::IsIntLiteral(count->operands[1], 0);
  return is_limited ? count->operands[0] : count;
}

}  // namespace

int64_t GraphBuilder::FindLength(const tensor::Tensor& count, const FoundRequest& request) {
  const std::vector<int64_t> place(count.shape().size(), 0);
  const tensor::Expr element =
      request.is_computed ? count.At({place.begin(), place.end()}) : ElementOf(count, place);
  if (element->op == tensor::ExprOp::kInt) return element->int_value;
  for (const auto& [known, length] : counts_) {
    if (tensor::StructurallyEqual(known, KeyOf(element))) return length;
  }
  if (found_ == nullptr) {
    throw RunTimeDependence("a length is known at run time only", InputsBehind(count));
  }
  const FoundBound* found = nullptr;
  try {
    found = &found_->Next(request);
  } catch (const InputError& error) {
    throw RunTimeDependence(error.what(), InputsBehind(count), request.tensor);
  }
  if (found->symbol >= 0 && finds_fixed_) {
    finds_open_ = true;
    throw RunTimeDependence("a length is known at run time only", InputsBehind(count));
  }
  // A value of its own, which no one reads: passes leave it as it is.
  const tensor::Tensor scalar =
      Map("found", {}, [&](const Exprs&) { return tensor::Cast(tensor::DType::kInt64, element); });
  graph_.found.push_back({found->name, scalar.id(), found->symbol, found->least, found->most});
  counts_.emplace_back(KeyOf(element), found->length);
  return found->length;
}

int64_t GraphBuilder::CapacityFor(const FoundRequest& request) const {
  return found_ != nullptr ? found_->CapacityFor(request) : *request.bound;
}

tensor::Expr GraphBuilder::ElementOf(const tensor::Tensor& tensor,
                                     const std::vector<int64_t>& place) const {
  int budget = kMaxSeenThrough;
  return ElementOf(tensor.id(), place, budget);
}

tensor::Expr GraphBuilder::ElementOf(ValueId id, const std::vector<int64_t>& place,
                                     int& budget) const {
  const Value& value = graph_.values[id];
  int64_t number = 0;
  for (size_t d = 0; d < place.size(); ++d) number = number * value.shape[d] + place[d];
  if (value.constant) {
    return tensor::IsFloat(value.dtype)
               ? tensor::FloatLiteral(value.constant->Get(number), value.dtype)
               : tensor::IntLiteral(value.constant->GetInt(number), value.dtype);
  }
  const auto node = std::find_if(graph_.nodes.rbegin(), graph_.nodes.rend(),
                                 [&](const Node& other) { return other.output() == id; });
  std::vector<tensor::Expr> indices(place.begin(), place.end());
  if (node == graph_.nodes.rend() || value.ElementCount() > kMaxComputedElements || --budget < 0) {
    return tensor::Load(id, value.dtype, std::move(indices));
  }
  if (node->kind == NodeKind::kView) {
    return ElementOf(node->source, PlaceOfNumber(number, graph_.values[node->source].shape),
                     budget);
  }
  if (node->kind != NodeKind::kMap) return tensor::Load(id, value.dtype, std::move(indices));
  const tensor::Expr at = tensor::Simplify(tensor::SubstituteIters(node->stage.value, indices), {});
  const tensor::Expr seen_through =
      tensor::Rewrite(at, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
        if (e->op != tensor::ExprOp::kLoad) return std::nullopt;
        const auto numbers = AsKnownPlace(e->operands);
        return numbers ? std::optional(ElementOf(e->index, *numbers, budget)) : std::nullopt;
      });
  return tensor::Simplify(seen_through, {});
}

}  // namespace bayloom::graph
