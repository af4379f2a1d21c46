// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "bayloom/graph/import/schema_table.h"

namespace bayloom::graph {

// What ONNX's schemas say of a node. The checks throw InputError with the reason.

/// The oldest operator set that is supported; the newest is the newest of the table.
inline constexpr int kOldestOpset = 7;

/// The operator's name with its domain, if that is not ONNX's own: "com.microsoft.QGemm".
std::string QualifiedName(const onnx::NodeProto& node);

/// The schema that holds for the node. Refuses operators that do not exist in that version of
/// their domain, with what would help.
const Schema& SchemaOf(const std::string& domain, const std::string& op, int version);

/// Numbers of inputs and outputs, and attributes.
void CheckAgainstSchema(const onnx::NodeProto& node, const Schema& schema);

/// `types` are ONNX's names of the inputs' element types; empty: the input is absent.
void CheckTypes(const Schema& schema, const std::vector<std::string>& types);

/// The node with every attribute that it leaves out and that has a default.
onnx::NodeProto WithDefaults(onnx::NodeProto node, const Schema& schema);

}  // namespace bayloom::graph
