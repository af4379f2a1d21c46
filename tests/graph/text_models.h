// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/graph/import.h"

namespace onnx {
class ModelProto;
}

namespace bayloom::graph {

/// A model given as a graph in ONNX's text format. It uses the operator set `opset`, and version 1
/// of com.microsoft's.
onnx::ModelProto ParseModel(const std::string& graph, int opset = 14);

/// Imports such a model.
Graph ImportText(const std::string& graph, int opset = 14, const ImportOptions& options = {});

}  // namespace bayloom::graph
