// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/refusal_policy.h"

#include <fmt/format.h>

#include "bayloom/graph/import/node_handler.h"
#include "bayloom/graph/import/node_order.h"

namespace bayloom::graph {
namespace {

class Throwing : public RefusalPolicy {
 public:
  void RefuseNode(const RefusedNode& refused, Scope&, ImportState) override {
    switch (refused.cause) {
      case RefusedNode::Cause::kNode:
        throw NodeError(refused.Located());
      case RefusedNode::Cause::kRunTimeValue:
        // The outermost node is the one that people know.
        if (refused.depth == 0) {
          throw RunTimeDependence(refused.Located(), refused.inputs, refused.bound);
        }
        break;
      case RefusedNode::Cause::kInnerNode:
      case RefusedNode::Cause::kUnknownValue:
        break;
    }
    std::rethrow_exception(refused.thrown);
  }
  void RefuseValue(const std::string& problem) override { throw InputError(problem); }
};

class Noting final : public RefusalPolicy {
 public:
  explicit Noting(ImportNotes& notes) : notes_(notes) {}

  void RefuseNode(const RefusedNode& refused, Scope& scope, ImportState state) override {
    if (refused.cause == RefusedNode::Cause::kUnknownValue) {
      ++notes_.unexamined_nodes;
      NoteUnsupportedInside(refused, state);
    } else {
      Note(refused.node, refused.opsets, refused.reason, refused.inputs, refused.bound);
    }
    for (const std::string& output : refused.node.output()) {
      if (!output.empty() && !scope.HasOwn(output)) scope.DefineOpaque(output);
    }
  }
  void RefuseValue(const std::string& problem) override { notes_.problems.push_back(problem); }

 private:
  void Note(const onnx::NodeProto& node, const OpsetVersions& opsets, const std::string& reason,
            const std::vector<std::string>& inputs = {}, const std::string& bound = "") {
    notes_.refusals.push_back({Printable(NodeName(node)), QualifiedName(node),
                               VersionOf(node, opsets), reason, inputs, bound});
  }

  /// Operators of inner graphs and functions that are not reached are looked up, no more.
  void NoteUnsupportedInside(const RefusedNode& refused, ImportState state) {
    ForEachUnsupportedInside(refused.node, refused.opsets, state.functions, state.nodes_left,
                             [&](const onnx::NodeProto& inner, const OpsetVersions& opsets,
                                 const InputError& error) { Note(inner, opsets, error.what()); });
  }

  ImportNotes& notes_;
};

class LeavingOut final : public Throwing {
 public:
  explicit LeavingOut(PartialImport& partial) : partial_(partial) {}

  std::string WhyToLeave(const onnx::NodeProto& node, int depth) const override {
    return depth == 0 ? partial_.WhyToLeave(node) : "";
  }
  void RefuseNode(const RefusedNode& refused, Scope& scope, ImportState state) override {
    if (refused.depth > 0) Throwing::RefuseNode(refused, scope, state);
    const bool is_unknown = refused.cause == RefusedNode::Cause::kUnknownValue;
    Add(refused.node, refused.opsets,
        is_unknown
            ? "depends on values of nodes that are left out whose types or shapes are not known"
            : refused.reason);
    partial_.DefineOutputs(refused.node, refused.opsets, state.builder, scope);
  }
  void Accept(const onnx::NodeProto& node, const OpsetVersions& opsets, int depth) override {
    if (depth == 0) Add(node, opsets, "");
  }
  void RefuseValue(const std::string&) override {}
  void RefuseInput(const RunTimeDependence&) override {}

 private:
  void Add(const onnx::NodeProto& node, const OpsetVersions& opsets, const std::string& reason) {
    partial_.nodes.push_back({&node, VersionOf(node, opsets), reason});
  }

  PartialImport& partial_;
};

}  // namespace

std::string RefusedNode::Located() const {
  return fmt::format("node '{}' ({}): {}", Printable(NodeName(node)),
                     DescribeOperator(node, opsets), reason);
}

std::unique_ptr<RefusalPolicy> ThrowRefusals() { return std::make_unique<Throwing>(); }

std::unique_ptr<RefusalPolicy> NoteRefusals(ImportNotes& notes) {
  return std::make_unique<Noting>(notes);
}

std::unique_ptr<RefusalPolicy> LeaveRefusedOut(PartialImport& partial) {
  return std::make_unique<LeavingOut>(partial);
}

}  // namespace bayloom::graph
