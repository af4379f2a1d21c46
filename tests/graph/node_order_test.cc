// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/node_order.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "tests/graph/text_model.h"

namespace bayloom::graph {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// y = relu(-x) + x, its nodes in another order.
const char* const kUnsorted = R"(
  output { name: 'y' }
  node { op_type: 'Add' input: 'r' input: 'x' output: 'y' name: 'sum' }
  node { op_type: 'Relu' input: 'm' output: 'r' name: 'relu' }
  node { op_type: 'Neg' input: 'x' output: 'm' name: 'minus' })";

std::string WithInput(const std::string& graph) {
  return "input { " + Declare("x", 1, {2}) + " }" + graph;
}

std::vector<std::string> Names(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const onnx::NodeProto* node : SortedNodes(graph.node())) names.push_back(node->name());
  return names;
}

TEST(NodeOrder, UnsortedNodesAreSorted) {
  const onnx::ModelProto model = TextModel(13, WithInput(kUnsorted));
  EXPECT_THAT(Names(model.graph()), ElementsAre("minus", "relu", "sum"));
  EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -5})})[0]), ElementsAre(3, 0));
}

TEST(NodeOrder, SortedNodesStayAsTheyAre) {
  const onnx::ModelProto model = TextModel(13, R"(
    node { op_type: 'Neg' input: 'x' output: 'b' name: 'b' }
    node { op_type: 'Neg' input: 'x' output: 'a' name: 'a' }
    node { op_type: 'Neg' input: 'b' output: 'd' name: 'd' }
    node { op_type: 'Neg' input: 'a' output: 'c' name: 'c' })");
  EXPECT_THAT(Names(model.graph()), ElementsAre("b", "a", "d", "c"));
}

TEST(NodeOrder, GraphsWithinNodesCount) {
  const onnx::ModelProto model = TextModel(13, R"(
    node { op_type: 'If' input: 'c' output: 'y' name: 'if' attribute { name: 'then_branch' type: GRAPH
      g { node { op_type: 'Neg' input: 'late' output: 't' } output { name: 't' } } } }
    node { op_type: 'Neg' input: 'x' output: 'late' name: 'late' })");
  EXPECT_THAT(Names(model.graph()), ElementsAre("late", "if"));
}

/// The branches call what they compute, a constant and their result as the graph around them does.
constexpr char kNamesOfBothGraphs[] = R"(
  input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } }
  output { name: 'y' } output { name: 'z' }
  node { op_type: 'If' input: 'c' output: 'y' name: 'if'
    attribute { name: 'then_branch' type: GRAPH g {
      node { op_type: 'Neg' input: 'x' output: 'z' } node { op_type: 'Abs' input: 'z' output: 'y' }
      output { name: 'y' } } }
    attribute { name: 'else_branch' type: GRAPH g {
      initializer { name: 'z' data_type: 1 dims: 2 float_data: [10, 20] }
      node { op_type: 'Add' input: 'x' input: 'z' output: 'y' } output { name: 'y' } } } }
  node { op_type: 'Neg' input: 'y' output: 'z' name: 'z' })";

TEST(NodeOrder, WhatAnInnerGraphDefinesIsItsOwn) {
  const onnx::ModelProto model = TextModel(17, WithInput(kNamesOfBothGraphs));
  EXPECT_THAT(Names(model.graph()), ElementsAre("if", "z"));
  for (const bool condition : {false, true}) {
    const auto results = Compute(
        model, {Floats({2}, {3, -5}), TensorOf(tensor::DType::kBool, {}, {condition ? 1.0 : 0})});
    EXPECT_THAT(Values(results[0]), condition ? ElementsAre(3, 5) : ElementsAre(13, 15));
    EXPECT_THAT(Values(results[1]), condition ? ElementsAre(-3, -5) : ElementsAre(-13, -15));
  }
}

TEST(NodeOrder, ALoopMayCallItsResultAsItsBodyDoes) {
  const onnx::ModelProto model = TextModel(17, WithInput(R"(
    output { name: 'y' }
    initializer { name: 'n' data_type: 7 int64_data: 3 }
    node { op_type: 'Loop' input: 'n' input: '' input: 'x' output: 'y'
      attribute { name: 'body' type: GRAPH g { input { name: 'i' } input { name: 'c' } input { name: 'v' }
        node { op_type: 'Identity' input: 'c' output: 'd' } node { op_type: 'Add' input: 'v' input: 'v' output: 'y' }
        output { name: 'd' } output { name: 'y' } } } })"));
  EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -5})})[0]), ElementsAre(24, -40));
}

TEST(NodeOrder, WhatNothingNeedsIsNotImported) {
  const onnx::ModelProto model = TextModel(17, WithInput(R"(
    output { name: 'y' }
    node { op_type: 'Relu' input: 'x' output: 'y' }
    node { op_type: 'NonZero' input: 'x' output: 'unsupported' }
    node { op_type: 'Nonsense' input: 'unsupported' output: 'unknown' })"));
  EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -5})})[0]), ElementsAre(3, 0));
}

TEST(NodeOrder, CyclesAreRefusedWithTheirNodes) {
  const onnx::ModelProto model = TextModel(13, WithInput(R"(
    output { name: 'y' }
    node { op_type: 'Add' input: 'x' input: 'c' output: 'a' name: 'first' }
    node { op_type: 'Relu' input: 'a' output: 'c' name: 'second' }
    node { op_type: 'Relu' input: 'c' output: 'y' name: 'outside' })"));
  EXPECT_THAT(RefusalOf(model), AllOf(HasSubstr("'first'"), HasSubstr("'second'"),
                                      HasSubstr("in a cycle"), Not(HasSubstr("'outside'"))));
}

TEST(NodeOrder, ANodeThatUsesItself) {
  const onnx::ModelProto model = TextModel(
      13,
      WithInput("output { name: 'y' } node { op_type: 'Add' input: 'x' input: 'y' output: 'y' }"));
  EXPECT_THAT(RefusalOf(model), HasSubstr("'y' in a cycle"));
}

// --- Functions of the model --------------------------------------------------------------------

constexpr int kNodeOverload = 8, kFunctionOverload = 13, kFunctionDefaults = 11;

template <typename Message>
void SetUnknown(Message& message, int field, const std::string& text) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, text);
}

onnx::FunctionProto& AddFunction(onnx::ModelProto& model, const std::string& op) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_domain("mine");
  function.set_name("F");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(20);
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type(op);
  node.add_input("a");
  node.add_output("b");
  return function;
}

onnx::ModelProto CallOfF() {
  onnx::ModelProto model = TextModel(
      20, WithInput(
              "output { name: 'y' } node { domain: 'mine' op_type: 'F' input: 'x' output: 'y' }"));
  auto& import = *model.add_opset_import();
  import.set_domain("mine");
  import.set_version(1);
  return model;
}

TEST(Functions, OverloadsAreToldApart) {
  for (const std::string overload : {"", "other"}) {
    onnx::ModelProto model = CallOfF();
    AddFunction(model, "Neg");
    SetUnknown(AddFunction(model, "Abs"), kFunctionOverload, "other");
    SetUnknown(*model.mutable_graph()->mutable_node(0), kNodeOverload, overload);
    EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -5})})[0]),
                overload.empty() ? ElementsAre(-3, 5) : ElementsAre(3, 5));
  }
}

TEST(Functions, AttributesHaveDefaults) {
  onnx::ModelProto model = CallOfF();
  onnx::FunctionProto& function = AddFunction(model, "LeakyRelu");
  onnx::AttributeProto& reference = *function.mutable_node(0)->add_attribute();
  reference.set_name("alpha");
  reference.set_type(onnx::AttributeProto::FLOAT);
  reference.set_ref_attr_name("slope");
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.5);
  SetUnknown(function, kFunctionDefaults, slope.SerializeAsString());
  EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -4})})[0]), ElementsAre(3, -2));
  slope.set_f(0.25);
  *model.mutable_graph()->mutable_node(0)->add_attribute() = slope;
  EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -4})})[0]), ElementsAre(3, -1));
}

/// Bodies are copies that are there for one call: what is made of the one does not belong to the
/// other.
TEST(Functions, GraphsOfTheirBodiesHaveDataOfTheirOwn) {
  const auto function = [](const std::string& name, int value) {
    const std::string branch = "type: GRAPH g { initializer { name: 'k' data_type: 1 float_data: " +
                               std::to_string(value) +
                               " } node { op_type: 'Add' input: 'a' input: 'k' output: 's' } "
                               "output { name: 's' } }";
    return "functions { domain: 'mine' name: '" + name +
           "' input: 'a' input: 'c' output: 'b' opset_import { version: 17 } node { op_type: 'If' "
           "input: 'c' output: 'b' attribute { name: 'then_branch' " +
           branch + " } attribute { name: 'else_branch' " + branch + " } } }";
  };
  const auto call = [](const std::string& name, const std::string& output) {
    return "node { domain: 'mine' op_type: '" + name + "' input: 'x' input: 'c' output: '" +
           output + "' } output { name: '" + output + "' }";
  };
  onnx::ModelProto model =
      TextModel(17, WithInput("input { " + Declare("c", 9, {}) + " }" + call("F", "y") +
                              call("G", "z") + call("F", "w")));
  auto& import = *model.add_opset_import();
  import.set_domain("mine");
  import.set_version(1);
  onnx::ModelProto functions;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(function("F", 1) + function("G", 2),
                                                            &functions));
  *model.mutable_functions() = functions.functions();
  const auto results =
      Compute(model, {Floats({2}, {3, -5}), TensorOf(tensor::DType::kBool, {}, {1})});
  EXPECT_THAT(Values(results[0]), ElementsAre(4, -4));
  EXPECT_THAT(Values(results[1]), ElementsAre(5, -3));
  EXPECT_THAT(Values(results[2]), ElementsAre(4, -4));
}

TEST(Functions, BodiesAreSorted) {
  onnx::ModelProto model = CallOfF();
  onnx::FunctionProto& function = AddFunction(model, "Neg");
  function.mutable_node(0)->set_input(0, "m");
  onnx::NodeProto& late = *function.add_node();
  late.set_op_type("Abs");
  late.add_input("a");
  late.add_output("m");
  EXPECT_THAT(Values(Compute(model, {Floats({2}, {3, -4})})[0]), ElementsAre(-3, -4));
}

}  // namespace
}  // namespace bayloom::graph
