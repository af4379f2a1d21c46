// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/fused_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "bayloom/base/result.h"

namespace bayloom::mapspace {
namespace {

Interval Clip(const Interval& interval, int64_t extent) {
  return {std::clamp<int64_t>(interval.begin, 0, extent),
          std::clamp<int64_t>(interval.end, 0, extent)};
}

Interval AffineInterval(const AccessStep::Axis& axis, const Box& box,
                        const std::vector<int64_t>& inner) {
  int64_t least = axis.constant, most = axis.constant;
  for (const AxisTerm& term : axis.terms) {
    const size_t d = static_cast<size_t>(term.dimension);
    const Interval range = d < box.size() ? box[d] : Interval{0, inner[d - box.size()]};
    const int64_t first = term.coefficient * range.begin;
    const int64_t last = term.coefficient * (range.end - 1);
    least += std::min(first, last);
    most += std::max(first, last);
  }
  return {least, most + 1};
}

/// What a run of axes covers of the elements that they have together, the last axis fastest.
Interval Flatten(const Box& box, const std::vector<int64_t>& shape, size_t begin, size_t end) {
  int64_t first = 0, last = 0;
  for (size_t a = begin; a < end; ++a) {
    first = first * shape[a] + box[a].begin;
    last = last * shape[a] + box[a].end - 1;
  }
  return {first, last + 1};
}

/// The least box of a run of axes that has these of its elements.
void Unflatten(Interval elements, const std::vector<int64_t>& shape, size_t begin, size_t end,
               Box& box) {
  for (size_t a = begin; a < end; ++a) {
    int64_t below = 1;
    for (size_t b = a + 1; b < end; ++b) below *= shape[b];
    const int64_t first = elements.begin / below, last = (elements.end - 1) / below;
    box[a] = {first, last + 1};
    if (first != last) {  // the axes inside run through all of their values in between
      for (size_t b = a + 1; b < end; ++b) box[b] = {0, shape[b]};
      return;
    }
    elements = {elements.begin - first * below, elements.end - first * below};
  }
}

/// Runs of axes with equal products of extents hold the same elements under both shapes.
Box Reshape(const Box& box, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  Box result = WholeBox(to);
  size_t f = 0, t = 0;
  while (true) {
    // At the end, axes of extent 1 may be left under one shape only.
    while (t == to.size() && f < from.size()) ++f;
    while (f == from.size() && t < to.size()) ++t;
    if (t == to.size()) break;
    size_t f_end = f, t_end = t;
    int64_t f_product = 1, t_product = 1;
    while (f_product != t_product || f_end == f || t_end == t) {
      const bool take_from = t_end == to.size() || (f_end < from.size() && f_product <= t_product);
      if (take_from) {
        f_product *= from[f_end++];
      } else {
        t_product *= to[t_end++];
      }
    }
    Unflatten(Flatten(box, from, f, f_end), to, t, t_end, result);
    f = f_end;
    t = t_end;
  }
  return result;
}

}  // namespace

Box WholeBox(const std::vector<int64_t>& shape) {
  Box box;
  for (const int64_t extent : shape) box.push_back({0, extent});
  return box;
}

bool IsEmpty(const Box& box) {
  return std::ranges::any_of(box, [](const Interval& interval) { return interval.IsEmpty(); });
}

int64_t WordsOf(const Box& box) {
  int64_t words = 1;
  for (const Interval& interval : box) words *= interval.Length();
  return words;
}

Box Hull(const Box& a, const Box& b) {
  if (IsEmpty(a)) return b;
  if (IsEmpty(b)) return a;
  Box hull = a;
  for (size_t i = 0; i < hull.size(); ++i) {
    hull[i] = {std::min(a[i].begin, b[i].begin), std::max(a[i].end, b[i].end)};
  }
  return hull;
}

bool AccessStep::operator==(const AccessStep& other) const {
  const auto same_axis = [](const Axis& a, const Axis& b) {
    return a.constant == b.constant && a.terms == b.terms && a.is_whole == b.is_whole;
  };
  return shape == other.shape && inner == other.inner && from == other.from &&
         std::ranges::equal(axes, other.axes, same_axis);
}

Box ReadBox(const FusedOperand& operand, const Box& output) {
  Box box = output;
  for (const AccessStep& step : operand.steps) {
    if (IsEmpty(box)) return Box(operand.steps.back().shape.size());
    if (!step.from.empty() || step.axes.size() != step.shape.size()) {
      box = Reshape(box, step.from, step.shape);
      continue;
    }
    Box next;
    for (size_t a = 0; a < step.shape.size(); ++a) {
      const AccessStep::Axis& axis = step.axes[a];
      const Interval read =
          axis.is_whole ? Interval{0, step.shape[a]} : AffineInterval(axis, box, step.inner);
      next.push_back(Clip(read, step.shape[a]));
    }
    box = std::move(next);
  }
  return box;
}

int64_t FusedTensor::Words() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t FusedNetwork::WeightWords(int op) const {
  const std::optional<FusedProduct>& product = operators[op].product;
  if (!product || product->weights_operand >= 0) return 0;
  const int weights = product->problem.TensorNamed("Weights");
  if (weights < 0) return 0;
  return product->problem.tensors[weights].BoxWords(product->problem.Whole());
}

namespace {

[[noreturn]] void Refuse(const FusedOperator& op, const std::string& what) {
  throw InputError(fmt::format("operator '{}' {}", op.name, what));
}

void CheckProduct(const FusedNetwork& network, const FusedOperator& op) {
  const FusedProduct& product = *op.product;
  CheckProblem(product.problem);
  if (std::ssize(product.output_axis) != product.problem.DimensionCount()) {
    Refuse(op, "does not say which axis each dimension runs along");
  }
  const std::vector<int64_t>& shape = network.tensors[op.output].shape;
  for (int d = 0; d < product.problem.DimensionCount(); ++d) {
    const int axis = product.output_axis[d];
    if (axis >= std::ssize(shape)) Refuse(op, "names an axis that its output lacks");
    if (axis >= 0 && shape[axis] != product.problem.bounds[d]) {
      Refuse(op, fmt::format("has {} of dimension {}, its output {}", product.problem.bounds[d],
                             product.problem.dimensions[d], shape[axis]));
    }
  }
  if (product.weights_operand >= std::ssize(op.operands)) Refuse(op, "lacks its second operand");
}

}  // namespace

void FusedNetwork::Connect() {
  for (FusedTensor& tensor : tensors) {
    tensor.producer = -1;
    tensor.consumers.clear();
  }
  for (int k = 0; k < OperatorCount(); ++k) {
    const FusedOperator& op = operators[k];
    for (const FusedOperand& operand : op.operands) {
      if (operand.tensor < 0 || operand.tensor >= std::ssize(tensors)) {
        Refuse(op, "reads a tensor that does not exist");
      }
      if (operand.steps.empty() || operand.steps.back().shape != tensors[operand.tensor].shape) {
        Refuse(op, "reads '" + tensors[operand.tensor].name + "' under another shape");
      }
      std::vector<int>& consumers = tensors[operand.tensor].consumers;
      if (consumers.empty() || consumers.back() != k) consumers.push_back(k);
    }
    if (op.output < 0 || op.output >= std::ssize(tensors)) Refuse(op, "writes nothing");
    if (tensors[op.output].producer >= 0 || !tensors[op.output].consumers.empty()) {
      Refuse(op, "writes what was read or written before");
    }
    tensors[op.output].producer = k;
    if (op.product) CheckProduct(*this, op);
  }
}

bool IsNeededAfter(const FusedNetwork& network, int tensor, int end) {
  const FusedTensor& of = network.tensors[tensor];
  return of.is_output || (!of.consumers.empty() && of.consumers.back() >= end);
}

std::vector<int> InputsOf(const FusedNetwork& network, int begin, int end) {
  std::vector<int> inputs;
  for (int k = begin; k < end; ++k) {
    for (const FusedOperand& operand : network.operators[k].operands) {
      const int producer = network.tensors[operand.tensor].producer;
      if (producer < begin) inputs.push_back(operand.tensor);
    }
  }
  std::ranges::sort(inputs);
  inputs.erase(std::ranges::unique(inputs).begin(), inputs.end());
  return inputs;
}

CompulsoryWords CompulsoryOf(const FusedNetwork& network, int begin, int end) {
  CompulsoryWords words;
  std::vector<Box> needed(network.tensors.size());
  for (int k = end - 1; k >= begin; --k) {
    const FusedOperator& op = network.operators[k];
    const bool is_needed = k + 1 == end || IsNeededAfter(network, op.output, end);
    if (is_needed) needed[op.output] = WholeBox(network.tensors[op.output].shape);
    for (const FusedOperand& operand : op.operands) {
      Box& box = needed[operand.tensor];
      const Box read = ReadBox(operand, needed[op.output]);
      box = box.empty() ? read : Hull(box, read);
    }
    words.reads += network.WeightWords(k);
    if (IsNeededAfter(network, op.output, end)) {
      words.writes += network.tensors[op.output].Words();
    }
  }
  for (const int input : InputsOf(network, begin, end)) words.reads += WordsOf(needed[input]);
  return words;
}

}  // namespace bayloom::mapspace
