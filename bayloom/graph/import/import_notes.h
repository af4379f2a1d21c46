// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/import.h"
#include "bayloom/graph/survey.h"

namespace bayloom::graph {

/// What an import that goes on behind refused nodes has found.
struct ImportNotes {
  std::vector<NodeRefusal> refusals;
  /// Nodes that depend on refused ones: their operators are supported, no more is known.
  int64_t unexamined_nodes = 0;
  std::vector<std::string> problems;  ///< refused, but of no node
  std::vector<FoundBound> found;      ///< lengths that the network finds when it runs
};

/// Throws InputError for what cannot be read.
onnx::ModelProto ReadModel(const std::string& path);

/// As ImportOnnx, except that every refusal that does not depend on another one is noted. The graph
/// means nothing, or is not there, where there are any. What makes any import useless (an operator
/// set that is not known, extents that are not given) is thrown, without the path.
std::optional<Graph> ImportNoting(const std::string& path, const onnx::ModelProto& model,
                                  const ImportOptions& options, ImportNotes& notes);

/// Whether an exception says that the model cannot be used: what was refused, shapes that do not
/// fit (tensor/operators.h), constants that cannot be computed. Everything else is a fault of this
/// program.
bool IsModelAtFault(const std::exception& error);

/// To be called where an import has thrown: throws the same with the model's path in the message, a
/// SystemError where memory was short.
[[noreturn]] void RethrowNaming(const std::string& path);

}  // namespace bayloom::graph
