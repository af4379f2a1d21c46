// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/node_schema.h"

namespace bayloom::graph {

/// Which version of each operator domain applies.
using OpsetVersions = std::map<std::string, int>;

/// ONNX's own domain has two names.
inline std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// The versions that a model or function imports. Throws InputError if ONNX's own is newer than
/// the newest that is known.
template <typename OpsetImports>
OpsetVersions ReadOpsets(const OpsetImports& imports) {
  OpsetVersions versions;
  for (const auto& import : imports) {
    const int64_t version = import.version();
    versions[DomainOf(import.domain())] = static_cast<int>(std::clamp<int64_t>(version, 0, 1000));
  }
  const auto standard = versions.find("");
  if (standard != versions.end() && standard->second > NewestOpset()) {
    throw InputError(fmt::format("operator set {} is not supported; supported are {} to {}",
                                 standard->second, kOldestOpset, NewestOpset()));
  }
  versions.emplace("com.microsoft", 1);  // onnxruntime's tools do not always name it
  return versions;
}

/// The version of the node's operator set; 0: the model names none.
inline int VersionOf(const onnx::NodeProto& node, const OpsetVersions& versions) {
  const auto version = versions.find(DomainOf(node.domain()));
  return version == versions.end() ? 0 : version->second;
}

/// "Resize, operator set 13", "com.microsoft.QGemm, version 1": a node's operator for messages.
inline std::string DescribeOperator(const onnx::NodeProto& node, const OpsetVersions& versions) {
  const std::string domain = DomainOf(node.domain());
  const auto version = versions.find(domain);
  if (version == versions.end()) return QualifiedName(node);
  return fmt::format("{}, {} {}", QualifiedName(node), domain.empty() ? "operator set" : "version",
                     version->second);
}

}  // namespace bayloom::graph
