// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/internal/node_schema.h"

#include <fmt/format.h>
#include <onnx/checker.h>

#include <algorithm>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/graph/internal/onnx_tensor.h"

namespace bayloom::graph {
namespace {

std::string FirstLine(const std::string& text) {
  return Printable(text.substr(0, text.find('\n')));
}

}  // namespace

onnx::NodeProto WithDefaults(onnx::NodeProto node, const onnx::OpSchema& schema) {
  for (const auto& [name, attribute] : schema.attributes()) {
    const auto& given = node.attribute();
    const bool present =
        std::any_of(given.begin(), given.end(), [&](const auto& a) { return a.name() == name; });
    if (present || !attribute.default_value.has_name()) continue;
    *node.add_attribute() = attribute.default_value;
  }
  return node;
}

void CheckTypes(const onnx::OpSchema& schema,
                const std::vector<std::optional<tensor::Tensor>>& inputs) {
  const auto& formal = schema.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const auto& allowed = formal[std::min(i, formal.size() - 1)].GetTypes();
    const std::string type = fmt::format("tensor({})", OnnxName(inputs[i]->dtype()));
    const bool fits = std::any_of(allowed.begin(), allowed.end(),
                                  [&](const std::string* name) { return *name == type; });
    if (!fits) {
      throw InputError(
          fmt::format("input {} may not be of {}", i, tensor::ToString(inputs[i]->dtype())));
    }
  }
}

void CheckAge(const onnx::OpSchema& schema, int version) {
  if (!schema.domain().empty() || version >= kOldestOpset) return;
  const auto* oldest = onnx::OpSchemaRegistry::Schema(schema.Name(), kOldestOpset, schema.domain());
  if (!oldest || oldest->since_version() != schema.since_version()) {
    throw InputError(fmt::format("operator set {} is not supported; supported are {} to {}",
                                 version, kOldestOpset, kNewestOpset));
  }
}

void CheckAgainstSchema(const onnx::NodeProto& node, const onnx::OpSchema& schema) {
  try {
    schema.Verify(node);
  } catch (const onnx::checker::ValidationError& error) {
    throw InputError(FirstLine(error.what()));
  }
}

}  // namespace bayloom::graph
