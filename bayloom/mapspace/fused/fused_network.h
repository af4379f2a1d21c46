// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {

/// Indices from `begin` up to, but not including, `end`.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t Length() const { return end > begin ? end - begin : 0; }
  bool IsEmpty() const { return end <= begin; }
  bool operator==(const Interval&) const = default;
};

/// One interval per axis. Empty if one of them is.
using Box = std::vector<Interval>;

Box WholeBox(const std::vector<int64_t>& shape);
bool IsEmpty(const Box& box);
int64_t WordsOf(const Box& box);
/// The least box with both in it.
Box Hull(const Box& a, const Box& b);

/// What a box of indices means in another tensor: by affine indices, or under another shape of the
/// same elements in the same order.
struct AccessStep {
  struct Axis {
    int64_t constant = 0;
    std::vector<AxisTerm> terms;  ///< of the box's axes, then of `inner`
    bool is_whole = false;        ///< the index is not affine: any element may be meant
  };

  /// Of the tensor that the step leads to.
  std::vector<int64_t> shape;
  /// Extents of further iterators, all of whose values are taken: those of a reduction.
  std::vector<int64_t> inner;
  /// One per axis of `shape`; empty for another shape of the same elements.
  std::vector<Axis> axes;
  /// Of a change of shape: that of the box.
  std::vector<int64_t> from;

  bool operator==(const AccessStep& other) const;
};

/// What of a tensor an operator reads to compute a box of its output: the steps one after the
/// other.
struct FusedOperand {
  int tensor = 0;
  std::vector<AccessStep> steps;

  bool operator==(const FusedOperand&) const = default;
};

/// The box of elements that is read, clipped to the tensor: what lies outside is padding.
Box ReadBox(const FusedOperand& operand, const Box& output);

struct FusedTensor {
  std::string name;
  std::vector<int64_t> shape;
  int producer = -1;                ///< operator; -1: comes from outside
  std::vector<int> consumers = {};  ///< operators, ascending
  bool is_output = false;           ///< of the network
  int64_t Words() const;
};

/// A multiplication of tensors as the mapper sees it.
struct FusedProduct {
  Problem problem;
  /// Of every dimension of the problem: the axis of the operator's output that it runs along, -1 if
  /// it is summed up over.
  std::vector<int> output_axis;
  /// The operand that the problem calls "Weights", if another operator computes it; -1: constants.
  int weights_operand = -1;
};

/// What reads tensors and writes one: a product (convolution, depthwise, grouped, of matrices), or
/// something that multiplies nothing (pool, sum of branches, softmax, normalization).
struct FusedOperator {
  std::string name;
  int output = 0;  ///< tensor
  std::vector<FusedOperand> operands;
  std::optional<FusedProduct> product;
  /// Without a product: scalar operations per word of the output.
  double operations_per_word = 1;
};

/// A network as its operators in an order in which they can run, each tensor written by one of
/// them. What is done to one tensor alone element by element, or moves elements about (activations,
/// biases, padding, transposition, concatenation), is part of how the next operator reads it.
struct FusedNetwork {
  std::string name;
  std::vector<FusedTensor> tensors;
  std::vector<FusedOperator> operators;

  int OperatorCount() const { return static_cast<int>(operators.size()); }
  /// The words that an operator's constants have.
  int64_t WeightWords(int op) const;
  /// Fills in consumers and producers. Throws InputError for operands that are computed later, axes
  /// that do not fit, and problems that disagree with their operator.
  void Connect();
};

/// Whether something after the operators [begin, end) needs a tensor, or the caller does.
bool IsNeededAfter(const FusedNetwork& network, int tensor, int end);

/// The words that the operators [begin, end) have to read from and write to memory outside at the
/// least: every input and constant that is used, and every result that is needed later, once.
struct CompulsoryWords {
  int64_t reads = 0;
  int64_t writes = 0;
};
CompulsoryWords CompulsoryOf(const FusedNetwork& network, int begin, int end);

/// Of the operators [begin, end): tensors that they read but do not write, ascending; those that
/// they write.
std::vector<int> InputsOf(const FusedNetwork& network, int begin, int end);

}  // namespace bayloom::mapspace
