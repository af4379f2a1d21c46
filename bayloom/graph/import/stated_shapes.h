// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bayloom::graph {

/// What a model says of a dimension: its extent, its name, or nothing.
struct StatedDimension {
  std::optional<int64_t> extent;
  std::string name;
};

/// What a model says of the shapes of its outputs, and of values inside of it.
class StatedShapes {
 public:
  explicit StatedShapes(const onnx::GraphProto& graph) : graph_(graph) {
    for (const auto* values : {&graph.value_info(), &graph.output()}) {
      for (const onnx::ValueInfoProto& value : *values) {
        const auto& type = value.type();
        if (!type.has_tensor_type() || !type.tensor_type().has_shape()) continue;
        shapes_.emplace(value.name(), &type.tensor_type().shape());
      }
    }
  }

  /// Its shape, where the model says all of its extents.
  std::optional<std::vector<int64_t>> ShapeOf(const std::string& value) const {
    const auto shape = shapes_.find(value);
    if (shape == shapes_.end()) return std::nullopt;
    std::vector<int64_t> extents;
    for (int d = 0; d < shape->second->dim_size(); ++d) {
      const std::optional<int64_t> extent = Find(value, d).extent;
      if (!extent) return std::nullopt;
      extents.push_back(*extent);
    }
    return extents;
  }

  /// How long the last dimension of a value is at most, by what is said of results of elementwise
  /// operators that follow: it is as long as theirs, or has one element.
  std::optional<int64_t> BoundOfLast(const std::string& value) const;

  StatedDimension Find(const std::string& value, int dimension) const {
    const auto shape = shapes_.find(value);
    if (shape == shapes_.end() || dimension < 0 || dimension >= shape->second->dim_size()) {
      return {};
    }
    const auto& stated = shape->second->dim(dimension);
    if (stated.has_dim_value() && stated.dim_value() >= 0) return {stated.dim_value(), ""};
    return {std::nullopt, stated.dim_param()};
  }

 private:
  const onnx::GraphProto& graph_;
  std::unordered_map<std::string, const onnx::TensorShapeProto*> shapes_;
};

}  // namespace bayloom::graph
