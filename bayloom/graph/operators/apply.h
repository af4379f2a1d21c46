// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

using AttributeValue =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<float>>;

/// Attributes of an operator that is applied inside another one.
struct Attributes {
  std::vector<std::pair<std::string, AttributeValue>> given;
  /// Names of the importing node's own attributes, which are passed on where it has them.
  std::vector<std::string_view> own = {};
};

/// ONNX's own operator of that name in operator set 17, applied to tensors while another node is
/// imported: operators that are compositions of others are written with it.
std::vector<tensor::Tensor> ApplyOperatorAll(OperatorContext& context, const std::string& name,
                                             std::vector<std::optional<tensor::Tensor>> inputs,
                                             int outputs, const Attributes& attributes = {});
/// The same for an operator with one output.
tensor::Tensor ApplyOperator(OperatorContext& context, const std::string& name,
                             std::vector<std::optional<tensor::Tensor>> inputs,
                             const Attributes& attributes = {});

/// Input number `i`, or nothing where it is absent.
std::optional<tensor::Tensor> OptionalInput(OperatorContext& context, int i);

/// A constant with every element equal to `value`.
tensor::Tensor Filled(OperatorContext& context, double value, tensor::DType dtype,
                      std::vector<int64_t> shape);

/// `count` elements of the last axis from `first` on.
tensor::Tensor LastAxisSlice(OperatorContext& context, const tensor::Tensor& x, int64_t first,
                             int64_t count);

/// The permutations of Permute that bring the channels of images from the last axis to the second,
/// and back.
std::vector<int> ChannelsFirst(int rank);
std::vector<int> ChannelsLast(int rank);

/// An activation by ONNX's name ("Relu", "LeakyRelu", ...) with `parameters` in the order in which
/// the fused operators of onnxruntime hold them; an empty name is the identity.
tensor::Tensor Activate(OperatorContext& context, const tensor::Tensor& x, const std::string& name,
                        const std::vector<float>& parameters);

}  // namespace bayloom::graph
