// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/graph.h"
#include "bayloom/graph/import.h"

namespace bayloom::graph {

/// A model with nodes that are refused, as steps that run one after the other: parts, which are
/// graphs like others, and nodes that are left to another program, such as onnxruntime.

/// A tensor that passes between steps, or is the model's.
struct StepTensor {
  std::string name;  ///< the model's
  std::string type;  ///< "float32", "int64"; empty: not known
  /// nullopt: known at run time only.
  std::optional<std::vector<int64_t>> shape;
};

/// A node that is left to another program.
struct LeftNode {
  std::string node;
  std::string op;   ///< with its domain, if that is not ONNX's own
  int version = 0;  ///< of the domain's operator set
  std::string reason;
};

/// One step. It takes what the model's inputs and the steps before it give.
struct PartialStep {
  /// A part of the network, whose inputs and outputs are those below; else the nodes are left out.
  std::optional<Graph> part;
  int64_t nodes = 0;           ///< of the model, that this step computes
  std::vector<LeftNode> left;  ///< the nodes of a step that is no part
  std::string model;           ///< these as an ONNX model of their own, serialized
  std::vector<StepTensor> inputs, outputs;
};

/// The steps of a model.
struct PartialNetwork {
  std::vector<StepTensor> inputs, outputs;  ///< the model's, without frozen inputs
  std::vector<PartialStep> steps;           ///< parts and nodes left out take turns

  int64_t PartCount() const;
  /// Nodes of the model that are in parts, and that are left out.
  int64_t TranslatedNodes() const;
  int64_t LeftNodes() const;
};

/// Divides a model: refused nodes are left out, and so are nodes that depend on results of theirs
/// with types or shapes that the model does not declare, and those that would be a part of their
/// own with hardly any work. Each part is as large as it can be without needing a result of its own
/// through a node that is left out; there are as few as that allows.
///
/// Throws as ImportOnnx for damaged models and missing extents, and InputError where no part can
/// be translated.
PartialNetwork ImportPartial(const std::string& path, const ImportOptions& options = {});

}  // namespace bayloom::graph
