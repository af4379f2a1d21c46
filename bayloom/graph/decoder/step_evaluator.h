// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bayloom/graph/decoder/step_inputs.h"

namespace bayloom::graph {

/// What is known of an element in a step of a decoder.
struct Known {
  enum class Kind : uint8_t {
    kNothing,
    kNumber,
    kLowest,  ///< a float below -1e30, beside which other scores leave it no weight
  };
  Kind kind = Kind::kNothing;
  int64_t integer = 0;  ///< kNumber of integers and bools,
  double real = 0;      ///< of floats

  bool IsZero() const { return kind == Kind::kNumber && integer == 0 && real == 0; }
  bool operator==(const Known&) const = default;
};

/// Elements of values that follow from constants and from where the tokens of a step are, with any
/// tokens and caches: positions, masks, what masks make of scores.
class StepEvaluator {
 public:
  /// A step of `count` tokens behind `past` others that there are rows of; `first` is the position
  /// of the first one.
  StepEvaluator(const Graph& graph, const StepInputs& inputs, int64_t past, int64_t count,
                int64_t first);

  Known At(ValueId value, const std::vector<int64_t>& index);
  /// An expression of a node where its iterators have these values.
  Known Of(const tensor::Expr& e, const std::vector<int64_t>& iters);
  /// Indices of a load, if all are known.
  std::optional<std::vector<int64_t>> IndicesOf(const tensor::Expr& load,
                                                const std::vector<int64_t>& iters);
  /// How far an iterator runs in the step.
  int64_t ExtentOf(const tensor::Iter& iter) const;
  const std::vector<int>& producers() const { return producers_; }

 private:
  Known OfInput(const Value& value, DecoderInput kind, const std::vector<int64_t>& index) const;
  Known OfNode(const Node& node, const std::vector<int64_t>& index);
  Known Reduced(const Node& node, std::vector<int64_t> iters);
  Known OfOperation(const tensor::Expr& e, const std::vector<int64_t>& iters);

  const Graph& graph_;
  const StepInputs& inputs_;
  const int64_t past_, count_, first_;
  const std::vector<int> producers_;
  std::vector<int64_t> lengths_;  // of the symbols
  std::map<std::pair<ValueId, int64_t>, Known> known_;
};

/// The index of an element in row-major order, and back.
int64_t FlatIndex(const std::vector<int64_t>& shape, const std::vector<int64_t>& index);
std::vector<int64_t> IndexAt(const std::vector<int64_t>& shape, int64_t flat);

}  // namespace bayloom::graph
