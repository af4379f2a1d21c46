// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "bayloom/graph/builder.h"

namespace bayloom::graph {

/// A model's float16 and bfloat16 are float32 inside the graph: every operator reads such operands
/// as float32, computes, sums up and passes on float32, and constants are widened. Values are
/// rounded where the model casts, and where they are the graph's outputs. This is what
/// processors without arithmetic in these types are best at, and what onnxruntime computes there:
/// it puts casts around nodes and removes pairs of them.
bool IsNarrowFloat(tensor::DType dtype);

/// The same numbers as float32.
tensor::HostTensor WidenFloats(const tensor::HostTensor& narrow);

/// The float32 numbers rounded to float16, bfloat16 or tf32: to nearest, ties to even; what is too
/// large becomes infinite, NaNs stay NaNs.
tensor::HostTensor NarrowFloats(const tensor::HostTensor& wide, tensor::DType dtype);

/// The wide forms of the values of a graph under construction, each made once.
class FloatWidener {
 public:
  explicit FloatWidener(GraphBuilder& builder) : builder_(builder) {}

  /// The tensor itself, or what is to be read in its place.
  tensor::Tensor Widen(const tensor::Tensor& tensor);
  /// The tensor as an output of the type that the model declares.
  tensor::Tensor AsDeclared(const tensor::Tensor& tensor, tensor::DType declared);
  /// The narrow type of most elements of constants that were widened; nullopt if none were.
  std::optional<tensor::DType> MainTypeOfConstants() const;

 private:
  tensor::Tensor Converted(const tensor::Tensor& tensor, tensor::DType dtype);

  GraphBuilder& builder_;
  std::unordered_map<ValueId, tensor::Tensor> wide_;
  std::map<tensor::DType, int64_t> constant_elements_;
};

}  // namespace bayloom::graph
