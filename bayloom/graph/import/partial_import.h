// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/input_shapes.h"
#include "bayloom/graph/import/named_value.h"
#include "bayloom/graph/import/opset_versions.h"
#include "bayloom/graph/import/scope.h"

namespace bayloom::graph {

/// The type and shape of a tensor in the model.
struct TensorType {
  int type = 0;  ///< ONNX's number of the element type
  std::vector<int64_t> shape;
};

/// A node of the model's own graph.
struct PartialNode {
  const onnx::NodeProto* node;
  int version;         ///< of its domain's operator set
  std::string reason;  ///< why it is left out; empty: it is translated
};

/// An import that leaves out the nodes of a model's own graph that are refused, or that are named
/// here. What these compute is an input of the graph, where type and shape are known: because the
/// model declares them (value_info), or `known` has them. Otherwise nodes that read it are left
/// out, too.
struct PartialImport {
  // What is given.
  std::map<const onnx::NodeProto*, std::string> leave;  ///< nodes to leave out, and why
  std::map<std::string, TensorType> known;

  // What is found.
  Graph graph;  ///< without outputs; inputs are the model's, then what left nodes compute
  std::vector<PartialNode> nodes;                      ///< in the order of execution
  std::unordered_map<std::string, NamedValue> values;  ///< of the model's own graph, by name

  // For the importer.
  void ReadDeclarations(const onnx::GraphProto& model, const InputShapes& shapes);
  /// Empty: it is not to be left out.
  std::string WhyToLeave(const onnx::NodeProto& node) const;
  /// The results of a node that is left out become inputs, or opaque.
  void DefineOutputs(const onnx::NodeProto& node, const OpsetVersions& opsets,
                     GraphBuilder& builder, Scope& scope);

 private:
  std::optional<TensorType> DeclaredType(const std::string& name) const;

  std::unordered_map<std::string, TensorType> declared_;
  std::unordered_map<std::string, int> declared_types_;  // of values without a shape, too
};

/// Imports what can be translated. Throws InputError, without the file's name, for damaged models,
/// and OpenShapeError where extents of inputs are missing.
void ImportPartially(const std::string& path, const onnx::ModelProto& model,
                     const ImportOptions& options, PartialImport& partial);

}  // namespace bayloom::graph
