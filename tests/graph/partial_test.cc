// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/partial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "bayloom/base/file.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/text_model.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using ::testing::HasSubstr;

PartialNetwork DivideModel(onnx::ModelProto model) {
  const TemporaryFolder folder;
  auto& own = *model.add_opset_import();
  own.set_domain("test");
  own.set_version(1);
  const std::string path = folder / "model.onnx";
  base::WriteFile(path, model.SerializeAsString());
  return ImportPartial(path);
}

std::string RefusalOfParts(const onnx::ModelProto& model) {
  try {
    DivideModel(model);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A node of the domain "test": of operators there nothing is known.
std::string Unknown(const std::string& op, const std::string& input, const std::string& output) {
  return "node { op_type: '" + op + "' domain: 'test' name: '" + op + "' input: '" + input +
         "' output: '" + output + "' }\n";
}

std::string Declared(const std::string& field, const std::string& name, int type,
                     const std::vector<int64_t>& shape) {
  return field + " { " + Declare(name, type, shape) + " }\n";
}

std::vector<std::string> NamesOf(const std::vector<StepTensor>& tensors) {
  std::vector<std::string> names;
  for (const StepTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

/// The nodes of a step that is left out, of which each has one input and one output.
onnx::ModelProto LeftModel(const PartialStep& step) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(step.model));
  return model;
}

using Tensors = std::map<std::string, tensor::HostTensor>;

/// Runs the steps. Parts are interpreted and compiled, which have to agree; "Triple" multiplies by
/// three, all others return their input.
Tensors RunSteps(const PartialNetwork& network, Tensors values) {
  for (const PartialStep& step : network.steps) {
    if (!step.part) {
      const onnx::ModelProto left = LeftModel(step);
      for (const onnx::NodeProto& node : left.graph().node()) {
        tensor::HostTensor value = values.at(node.input(0));
        const double factor = node.op_type() == "Triple" ? 3 : 1;
        for (int64_t i = 0; i < value.ElementCount(); ++i) value.Set(i, factor * value.Get(i));
        values[node.output(0)] = std::move(value);
      }
      continue;
    }
    std::vector<tensor::HostTensor> inputs;
    for (const StepTensor& input : step.inputs) inputs.push_back(values.at(input.name));
    const std::vector<tensor::HostTensor> outputs = EvaluateGraph(*step.part, inputs);
    Graph optimized = *step.part;
    Optimize(optimized);
    const auto compiled = RunCompiled(ExtractTasks(std::move(optimized)), inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i].shape, *step.outputs[i].shape);
      EXPECT_EQ(tensor::ToString(outputs[i].dtype), step.outputs[i].type);
      for (int64_t e = 0; e < outputs[i].ElementCount(); ++e) {
        EXPECT_NEAR(compiled[i].Get(e), outputs[i].Get(e), 1e-4);
      }
      values[step.outputs[i].name] = outputs[i];
    }
  }
  return values;
}

constexpr char kWeightText[] =
    "initializer { name: 'w' data_type: 1 dims: 2 dims: 2 float_data: [1, 2, 3, 4] }\n";

/// y = relu(x w) tripled, w + x.
std::string TwoProducts(const std::string& middle) {
  return Declared("input", "x", kFloatType, {2, 2}) + Declared("output", "y", kFloatType, {2, 2}) +
         kWeightText + NodeText("MatMul", {"x", "w"}, "a") + NodeText("Relu", {"a"}, "b") + middle +
         NodeText("MatMul", {"c", "w"}, "d") + NodeText("Add", {"d", "a"}, "y");
}

TEST(Partial, PartsBeforeAndBehindARefusedNode) {
  const PartialNetwork network =
      DivideModel(TextModel(17, TwoProducts(Unknown("Triple", "b", "c")) +
                                    Declared("value_info", "c", kFloatType, {2, 2})));
  ASSERT_EQ(network.steps.size(), 3u);
  EXPECT_EQ(network.PartCount(), 2);
  EXPECT_EQ(network.TranslatedNodes(), 4);
  EXPECT_EQ(network.LeftNodes(), 1);
  EXPECT_EQ(NamesOf(network.steps[0].inputs), std::vector<std::string>{"x"});
  EXPECT_EQ(NamesOf(network.steps[0].outputs), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(network.steps[1].left[0].op, "test.Triple");
  EXPECT_EQ(NamesOf(network.steps[2].inputs), (std::vector<std::string>{"a", "c"}));
  const Tensors values = RunSteps(network, {{"x", Floats({2, 2}, {1, -1, 2, 0.5})}});
  // x w = [-2, -2, 3.5, 6]; tripled behind relu [0, 0, 10.5, 18]; times w, plus x w.
  EXPECT_EQ(Values(values.at("y")), (std::vector<double>{-2, -2, 68, 99}));
}

TEST(Partial, WhatIsNotDeclaredIsLeftOutUntilItIsKnownAgain) {
  const std::string graph =
      Declared("input", "x", kFloatType, {2, 2}) + Declared("output", "y", kFloatType, {2, 2}) +
      kWeightText + NodeText("MatMul", {"x", "w"}, "a") + Unknown("Same", "a", "b") +
      NodeText("Identity", {"b"}, "c") + NodeText("Identity", {"c"}, "d") +
      NodeText("MatMul", {"d", "w"}, "y") + Declared("value_info", "d", kFloatType, {2, 2});
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  ASSERT_EQ(network.steps.size(), 3u);
  EXPECT_EQ(network.steps[1].nodes, 3);
  EXPECT_THAT(network.steps[1].left[1].reason, HasSubstr("depends on values"));
  const Tensors values = RunSteps(network, {{"x", Floats({2, 2}, {1, 0, 0, 1})}});
  EXPECT_EQ(Values(values.at("y")), (std::vector<double>{7, 10, 15, 22}));
}

TEST(Partial, ModelsThatAreSupportedAreOnePart) {
  const PartialNetwork network =
      DivideModel(TextModel(17, TwoProducts(NodeText("Mul", {"b", "b"}, "c"))));
  ASSERT_EQ(network.steps.size(), 1u);
  EXPECT_EQ(network.LeftNodes(), 0);
  EXPECT_EQ(NamesOf(network.steps[0].outputs), std::vector<std::string>{"y"});
}

/// A part that waits for a node that is left out does not wait for another one of these.
TEST(Partial, PartsAreAsFewAsTheOrderAllows) {
  const std::string graph =
      Declared("input", "x", kFloatType, {2, 2}) + Declared("output", "y", kFloatType, {2, 2}) +
      kWeightText + Unknown("Triple", "x", "p") + Unknown("Same", "x", "q") +
      NodeText("MatMul", {"p", "w"}, "a") + NodeText("MatMul", {"q", "w"}, "b") +
      NodeText("Add", {"a", "b"}, "y") + Declared("value_info", "p", kFloatType, {2, 2}) +
      Declared("value_info", "q", kFloatType, {2, 2});
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  ASSERT_EQ(network.steps.size(), 2u);
  EXPECT_EQ(network.steps[0].left.size(), 2u);
  const Tensors values = RunSteps(network, {{"x", Floats({2, 2}, {1, 0, 0, 1})}});
  EXPECT_EQ(Values(values.at("y")), (std::vector<double>{4, 8, 12, 16}));
}

TEST(Partial, PartsWithHardlyAnyWorkAreLeftOut) {
  const std::string weights = Declared("input", "v", kFloatType, {64, 64});
  const std::string graph =
      Declared("input", "x", kFloatType, {64, 64}) + weights +
      Declared("output", "y", kFloatType, {64, 64}) + Declared("output", "z", kFloatType, {1}) +
      NodeText("MatMul", {"x", "v"}, "a") + NodeText("MatMul", {"a", "v"}, "y") +
      Unknown("Triple", "a", "p") + NodeText("Neg", {"p"}, "q") + Unknown("Same", "q", "z") +
      Declared("value_info", "p", kFloatType, {1});
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  EXPECT_EQ(network.PartCount(), 1);
  EXPECT_EQ(network.LeftNodes(), 3);
}

TEST(Partial, HalfFloatsPassInTheirOwnType) {
  const std::string graph =
      Declared("input", "x", kFloat16Type, {2, 2}) + Declared("output", "y", kFloat16Type, {2, 2}) +
      NodeText("Add", {"x", "x"}, "a") + Unknown("Triple", "a", "b") +
      NodeText("Add", {"b", "a"}, "y") + Declared("value_info", "b", kFloat16Type, {2, 2});
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  ASSERT_EQ(network.steps.size(), 3u);
  EXPECT_EQ(network.steps[0].outputs[0].type, "float16");
  EXPECT_EQ(network.steps[2].inputs[0].type, "float16");
  const Tensors values =
      RunSteps(network, {{"x", TensorOf(tensor::DType::kFloat16, {2, 2}, {1, 2, -3, 4})}});
  EXPECT_EQ(Values(values.at("y")), (std::vector<double>{8, 16, -24, 32}));
}

TEST(Partial, ConstantsOfLeftNodesComeWithThem) {
  const std::string graph =
      Declared("input", "x", kFloatType, {2, 2}) + Declared("output", "y", kFloatType, {2, 2}) +
      kWeightText + "initializer { name: 'names' data_type: 8 dims: 1 string_data: 'one' }\n" +
      NodeText("MatMul", {"x", "w"}, "a") + NodeText("Shape", {"a"}, "size") +
      "node { op_type: 'Mix' domain: 'test' input: 'a' input: 'size' input: 'names' output: 'b' }" +
      NodeText("MatMul", {"b", "w"}, "y") + Declared("value_info", "b", kFloatType, {2, 2});
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  ASSERT_EQ(network.steps.size(), 3u);
  const onnx::ModelProto left = LeftModel(network.steps[1]);
  EXPECT_EQ(left.graph().input_size(), 1);
  std::map<std::string, onnx::TensorProto> constants;
  for (const auto& tensor : left.graph().initializer()) constants[tensor.name()] = tensor;
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_EQ(constants.at("names").data_type(), kStringType);
  EXPECT_EQ(constants.at("size").data_type(), onnx::TensorProto::INT64);
  EXPECT_EQ(constants.at("size").raw_data().size(), 2 * sizeof(int64_t));
}

TEST(Partial, NodesThatNothingNeedsCutNothing) {
  const PartialNetwork network = DivideModel(TextModel(
      17, TwoProducts(NodeText("Mul", {"b", "b"}, "c") + Unknown("Triple", "c", "unused"))));
  EXPECT_EQ(network.steps.size(), 1u);
}

/// An If whose branches read what is not known is left out as a whole.
TEST(Partial, NodesWithGraphsThatReadWhatIsLeftOut) {
  const auto branch = [](const std::string& name, const std::string& op) {
    return "attribute { name: '" + name + "' type: GRAPH g { node { op_type: '" + op +
           "' input: 'u' output: 'b' } output { name: 'b' } } }";
  };
  const std::string graph =
      Declared("input", "x", kFloatType, {2, 2}) + Declared("input", "c", 9, {}) +
      Declared("output", "y", kFloatType, {2, 2}) + Declared("output", "z", kFloatType, {2, 2}) +
      kWeightText + NodeText("MatMul", {"x", "w"}, "z") + Unknown("Same", "x", "u") +
      "node { op_type: 'If' input: 'c' output: 'y' " + branch("then_branch", "Neg") +
      branch("else_branch", "Abs") + " }";
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  EXPECT_EQ(network.TranslatedNodes(), 1);
  EXPECT_EQ(network.LeftNodes(), 2);
}

/// The type of what a scan stacks is that of its parts.
TEST(Partial, ScannedResultsPassBetweenSteps) {
  const std::string graph = Declared("input", "x", kFloatType, {2, 2}) +
                            Declared("output", "y", kFloatType, {2, 2}) +
                            Declared("output", "z", kFloatType, {2}) +
                            "initializer { name: 's' data_type: 1 dims: 2 float_data: [1, 1] }"
                            "node { op_type: 'Scan' input: 's' input: 'x' output: 'z' output: 'y' "
                            "attribute { name: 'num_scan_inputs' type: INT i: 1 } attribute { "
                            "name: 'body' type: GRAPH g {"
                            "input { name: 'a' } input { name: 'b' } node { op_type: 'Mul' input: "
                            "'a' input: 'b' output: 'm' }"
                            "node { op_type: 'Identity' input: 'm' output: 'n' } output { name: "
                            "'m' } output { name: 'n' } } } }";
  const PartialNetwork network = DivideModel(TextModel(17, graph));
  EXPECT_EQ(network.LeftNodes(), 0);
  const Tensors values = RunSteps(network, {{"x", Floats({2, 2}, {2, 3, 4, 5})}});
  EXPECT_EQ(Values(values.at("y")), (std::vector<double>{2, 3, 8, 15}));
}

TEST(Partial, RefusesWhereNothingCanBeTranslated) {
  const std::string graph = Declared("input", "x", kFloatType, {2}) +
                            Declared("output", "y", kFloatType, {2}) + Unknown("Triple", "x", "y");
  EXPECT_THAT(RefusalOfParts(TextModel(17, graph)),
              HasSubstr("no part can be translated: node 'Triple' (test.Triple)"));
}

TEST(Partial, RefusesDamagedModels) {
  const std::string ends =
      Declared("input", "x", kFloatType, {2}) + Declared("output", "y", kFloatType, {2});
  EXPECT_THAT(RefusalOfParts(TextModel(17, ends + NodeText("Relu", {"nothing"}, "y"))),
              HasSubstr("'nothing' is not defined"));
  EXPECT_THAT(RefusalOfParts(TextModel(17, ends + NodeText("Relu", {"x"}, "z"))),
              HasSubstr("output 'y' is not defined"));
  EXPECT_THAT(RefusalOfParts(
                  TextModel(17, ends + NodeText("Relu", {"x"}, "y") + Unknown("Triple", "x", "y"))),
              HasSubstr("'y' is defined twice"));
}

}  // namespace
}  // namespace bayloom::graph
