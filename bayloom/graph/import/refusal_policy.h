// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/import/functions.h"
#include "bayloom/graph/import/import_notes.h"
#include "bayloom/graph/import/opset_versions.h"
#include "bayloom/graph/import/partial_import.h"
#include "bayloom/graph/import/scope.h"

namespace bayloom::graph {

/// What an import that ends at the first refusal throws: the message names the node.
class NodeError : public InputError {
  using InputError::InputError;
};

/// A node that cannot be imported.
struct RefusedNode {
  enum class Cause : uint8_t {
    kNode,          ///< what the node asks for
    kInnerNode,     ///< the same of a node inside of it; the reason names that
    kRunTimeValue,  ///< a value that is known at run time only, where it has to be known before
    kUnknownValue,  ///< a value of a node that was refused
  };
  const onnx::NodeProto& node;
  const OpsetVersions& opsets;
  int depth;  ///< functions and graphs of nodes around it
  Cause cause = Cause::kNode;
  std::string reason;
  std::vector<std::string> inputs = {};  ///< kRunTimeValue: of the model, that it depends on
  std::string bound = {};                ///< kRunTimeValue: as RunTimeDependence::bound
  std::exception_ptr thrown = nullptr;

  /// "node 'conv1' (Conv, operator set 17): REASON".
  std::string Located() const;
};

/// What policies need of the importer.
struct ImportState {
  GraphBuilder& builder;
  const LocalFunctions& functions;
  int64_t& nodes_left;  ///< that may be imported or looked at
};

/// What becomes of a model that has parts which cannot be imported. What is no fault of the model
/// (no memory, an internal error) never comes here.
class RefusalPolicy {
 public:
  virtual ~RefusalPolicy() = default;

  /// Why a node is left out before it is tried; empty: it is not.
  virtual std::string WhyToLeave(const onnx::NodeProto& /*node*/, int /*depth*/) const {
    return {};
  }
  /// Throws, or returns with the node's results in the scope, known or not.
  virtual void RefuseNode(const RefusedNode& refused, Scope& scope, ImportState state) = 0;
  /// Is told of nodes that were imported.
  virtual void Accept(const onnx::NodeProto& /*node*/, const OpsetVersions& /*opsets*/,
                      int /*depth*/) {}
  /// An initializer, an input or an output, which `problem` names. Throws, or returns, and nothing
  /// is known of its value.
  virtual void RefuseValue(const std::string& problem) = 0;
  /// An input of a type that only constants may have.
  virtual void RefuseInput(const RunTimeDependence& problem) { throw problem; }
};

/// The first refusal ends the import.
std::unique_ptr<RefusalPolicy> ThrowRefusals();
/// All are noted, and the rest is imported.
std::unique_ptr<RefusalPolicy> NoteRefusals(ImportNotes& notes);
/// Nodes of the model's own graph that are refused are left out, and what they compute is taken for
/// inputs where that can be.
std::unique_ptr<RefusalPolicy> LeaveRefusedOut(PartialImport& partial);

}  // namespace bayloom::graph
