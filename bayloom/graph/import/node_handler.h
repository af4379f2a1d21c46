// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <optional>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/functions.h"
#include "bayloom/graph/import/opset_versions.h"
#include "bayloom/graph/import/schema_table.h"
#include "bayloom/graph/operators/operator.h"

namespace bayloom::graph {

/// By what a node is imported: a function of the model, an operator or a function of ONNX.
struct NodeHandler {
  const onnx::FunctionProto* local = nullptr;
  const Schema* schema = nullptr;
  int version = 0;
  bool is_legacy = false;
  const Operator* op = nullptr;
  std::optional<onnx::FunctionProto> body;
};

/// Throws InputError for operators that are not supported.
NodeHandler FindHandler(const onnx::NodeProto& node, const OpsetVersions& opsets,
                        const LocalFunctions& functions);

/// Calls `found` for every node in the graphs of a node, and in the functions that it calls, whose
/// operator is not supported. `budget` is the number of nodes that may be looked at yet.
void ForEachUnsupportedInside(const onnx::NodeProto& node, const OpsetVersions& opsets,
                              const LocalFunctions& functions, int64_t& budget,
                              const std::function<void(const onnx::NodeProto&, const OpsetVersions&,
                                                       const InputError&)>& found);

}  // namespace bayloom::graph
