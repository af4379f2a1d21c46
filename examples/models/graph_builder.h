// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bayloom/base/random.h"

namespace onnx {
class ModelProto;
}

namespace bayloom::models {

/// A tensor of the graph under construction, by name.
using Value = std::string;
using Shape = std::vector<int64_t>;

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
               std::vector<std::string>>
      value;
};

/// Writes an ONNX graph node by node, in topological order.
///
///     GraphBuilder g("perceptron", /*opset=*/13, seed);
///     Value x = g.Input("x", {1, 64});
///     Value w = g.Weight("w", {64, 10}, /*fan_in=*/64, /*gain=*/1);
///     g.Output(g.Node("MatMul", {x, w}), {1, 10});
///     g.Save("perceptron.onnx");
class GraphBuilder {
 public:
  GraphBuilder(const std::string& name, int opset, uint64_t seed);
  GraphBuilder(GraphBuilder&&) noexcept;
  ~GraphBuilder();

  Value Input(const std::string& name, const Shape& shape);
  /// An input of int64 values, such as token ids.
  Value IndexInput(const std::string& name, const Shape& shape);
  void Output(const Value& value, const Shape& shape);

  /// A parameter with zero mean and standard deviation gain / sqrt(fan_in) (He et al. 2015): a
  /// layer whose inputs have unit mean square gets outputs of deviation `gain`.
  Value Weight(const std::string& name, const Shape& shape, int64_t fan_in, double gain);
  /// A parameter uniform in [low, high).
  Value Uniform(const std::string& name, const Shape& shape, float low, float high);
  Value Constant(const std::string& name, const Shape& shape, const std::vector<float>& values);
  Value Constant(const std::string& name, const Shape& shape, const std::vector<int64_t>& values);
  Value Constant(const std::string& name, const Shape& shape, const std::vector<bool>& values);

  /// A node with one output. An empty value stands for an input that is left out.
  Value Node(const std::string& op, const std::vector<Value>& inputs,
             const std::vector<Attribute>& attributes = {});
  std::vector<Value> Node(const std::string& op, const std::vector<Value>& inputs,
                          const std::vector<Attribute>& attributes, int outputs);

  const onnx::ModelProto& model() const { return *model_; }
  /// Writes the file; nothing is left behind when that fails. Throws InputError.
  void Save(const std::string& path) const;

 private:
  std::unique_ptr<onnx::ModelProto> model_;
  base::RandomStream random_;
};

}  // namespace bayloom::models
