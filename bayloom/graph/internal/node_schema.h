// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <optional>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

// What ONNX's schemas say of a node. The checks throw InputError with the reason.

/// Operator sets that are supported.
inline constexpr int kOldestOpset = 7, kNewestOpset = 17;

/// The node with every attribute that it leaves out and that has a default.
onnx::NodeProto WithDefaults(onnx::NodeProto node, const onnx::OpSchema& schema);

void CheckTypes(const onnx::OpSchema& schema,
                const std::vector<std::optional<tensor::Tensor>>& inputs);

/// Operator sets before the oldest supported one are fine as far as nothing has changed since.
void CheckAge(const onnx::OpSchema& schema, int version);

void CheckAgainstSchema(const onnx::NodeProto& node, const onnx::OpSchema& schema);

}  // namespace bayloom::graph
