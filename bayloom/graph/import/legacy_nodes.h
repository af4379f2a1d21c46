// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/import/schema_table.h"

namespace bayloom::graph {

/// Whether the schema, of a version before the oldest supported operator set, differs from what
/// holds in that set. Throws InputError where such a node cannot be written as one of that set.
bool IsLegacy(const Schema& schema, int version);

/// A legacy node as one of the oldest supported operator set. Broadcasting was asked for by
/// attributes then: inputs are given the shapes that broadcast without them. Throws InputError.
onnx::NodeProto ModernForm(const onnx::NodeProto& node, GraphBuilder& builder,
                           std::vector<std::optional<tensor::Tensor>>& inputs);

}  // namespace bayloom::graph
