// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/node_handler.h"

#include <fmt/format.h>

#include "bayloom/graph/import/functions.h"
#include "bayloom/graph/import/legacy_nodes.h"
#include "bayloom/graph/import/node_schema.h"
#include "bayloom/graph/import/onnx_tensor.h"

namespace bayloom::graph {
namespace {

using UnsupportedNode =
    std::function<void(const onnx::NodeProto&, const OpsetVersions&, const InputError&)>;

/// Looks operators up in graphs in graphs.
class InnerNodes {
 public:
  InnerNodes(const LocalFunctions& functions, int64_t& budget, const UnsupportedNode& found)
      : functions_(functions), budget_(budget), found_(found) {}

  void LookInside(const onnx::NodeProto& node, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxNesting) return;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) LookUp(attribute.g().node(), opsets, depth);
    }
    if (const onnx::FunctionProto* local = functions_.Find(node)) {
      LookUp(local->node(), ReadOpsets(local->opset_import()), depth);
    }
  }

 private:
  template <typename Nodes>
  void LookUp(const Nodes& nodes, const OpsetVersions& opsets, int depth) {
    for (const onnx::NodeProto& inner : nodes) {
      if (--budget_ < 0) return;
      try {
        FindHandler(inner, opsets, functions_);
        LookInside(inner, opsets, depth + 1);
      } catch (const InputError& error) {
        found_(inner, opsets, error);
      }
    }
  }

  const LocalFunctions& functions_;
  int64_t& budget_;
  const UnsupportedNode& found_;
};

}  // namespace

NodeHandler FindHandler(const onnx::NodeProto& node, const OpsetVersions& opsets,
                        const LocalFunctions& functions) {
  const std::string domain = DomainOf(node.domain());
  const auto version = opsets.find(domain);
  if (version == opsets.end()) {
    throw InputError(
        fmt::format("the model imports no operator set for the domain '{}'", Printable(domain)));
  }
  NodeHandler handler;
  handler.version = version->second;
  handler.local = functions.Find(node);
  if (handler.local) return handler;
  handler.schema = &SchemaOf(domain, node.op_type(), version->second);
  CheckAgainstSchema(node, *handler.schema);
  handler.is_legacy = IsLegacy(*handler.schema, version->second);
  handler.op = FindOperator(domain, node.op_type());
  if (!handler.op) handler.body = FunctionBody(*handler.schema);
  if (!handler.op && !handler.body) throw InputError("the operator is not supported");
  return handler;
}

void ForEachUnsupportedInside(const onnx::NodeProto& node, const OpsetVersions& opsets,
                              const LocalFunctions& functions, int64_t& budget,
                              const UnsupportedNode& found) {
  InnerNodes(functions, budget, found).LookInside(node, opsets, 0);
}

}  // namespace bayloom::graph
