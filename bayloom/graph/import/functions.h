// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace bayloom::graph {

/// Functions in functions, graphs in graphs: deeper nesting is taken for an endless one.
inline constexpr int kMaxNesting = 64;

/// The functions that a model defines, by domain, name and overload.
class LocalFunctions {
 public:
  explicit LocalFunctions(const onnx::ModelProto& model);
  /// Null: the node does not call one.
  const onnx::FunctionProto* Find(const onnx::NodeProto& node) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, const onnx::FunctionProto*> functions_;
};

/// The nodes of a function's body for one call: attributes that refer to the call's are filled in,
/// inputs that the call leaves out become absent.
std::vector<onnx::NodeProto> InstantiateBody(const onnx::FunctionProto& function,
                                             const onnx::NodeProto& call);

}  // namespace bayloom::graph
