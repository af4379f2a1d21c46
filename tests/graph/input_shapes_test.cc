// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/graph/import.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Dim = std::variant<int64_t, std::string>;  // an empty text has no name
using Shape = std::vector<int64_t>;

/// A model whose inputs are passed through Identity, one output each.
class InputShapesTest : public ::testing::Test {
 protected:
  InputShapesTest() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(14);
    model_.mutable_graph()->set_name("inputs");
  }

  void AddInput(const std::string& name, const std::vector<Dim>& dims,
                int type = onnx::TensorProto::FLOAT) {
    onnx::ValueInfoProto& input = *model_.mutable_graph()->add_input();
    input.set_name(name);
    auto& tensor = *input.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const Dim& dim : dims) {
      auto& added = *tensor.mutable_shape()->add_dim();
      if (const auto* extent = std::get_if<int64_t>(&dim)) added.set_dim_value(*extent);
      if (const auto* symbol = std::get_if<std::string>(&dim); symbol && !symbol->empty()) {
        added.set_dim_param(*symbol);
      }
    }
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type("Identity");
    node.add_input(name);
    node.add_output(name + "_out");
    model_.mutable_graph()->add_output()->set_name(name + "_out");
  }

  Graph Import() {
    base::WriteFile(folder_ / "model.onnx", model_.SerializeAsString());
    return ImportOnnx(folder_ / "model.onnx", options_);
  }

  /// The shapes of the graph's inputs.
  std::vector<Shape> Shapes() {
    const Graph graph = Import();
    std::vector<Shape> shapes;
    for (const ValueId input : graph.inputs) shapes.push_back(graph.values[input].shape);
    return shapes;
  }

  std::string Refusal() {
    try {
      Import();
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(Not(HasSubstr("\n")), Not(HasSubstr("--"))));
      return error.what();
    }
    ADD_FAILURE() << "the model was accepted";
    return "";
  }

  void Freeze(const std::string& name, tensor::DType dtype, const Shape& shape,
              const std::vector<double>& values) {
    auto tensor = tensor::HostTensor::Zeros(dtype, shape);
    for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
    options_.frozen_inputs[name] = std::make_shared<const tensor::HostTensor>(std::move(tensor));
  }

  onnx::ModelProto model_;
  ImportOptions options_;
  TemporaryFolder folder_;
};

TEST_F(InputShapesTest, OneExtentForAllInputsThatShareTheName) {
  AddInput("ids", {"batch", "sequence"});
  AddInput("mask", {"batch", "sequence"});
  AddInput("state", {int64_t{2}, "batch", int64_t{8}});
  options_.dimensions = {{"batch", 3}, {"sequence", 5}};
  EXPECT_THAT(Shapes(), ElementsAre(Shape{3, 5}, Shape{3, 5}, Shape{2, 3, 8}));
}

TEST_F(InputShapesTest, AllThatIsMissingIsNamedWithItsInputs) {
  AddInput("ids", {"batch", "sequence"});
  AddInput("mask", {"batch", "sequence"});
  AddInput("image", {"batch", "", int64_t{4}});
  AddInput("any", {});
  model_.mutable_graph()->mutable_input(3)->mutable_type()->mutable_tensor_type()->clear_shape();
  options_.dimensions = {{"sequence", 5}};
  EXPECT_THAT(Refusal(),
              AllOf(HasSubstr("the model leaves dimensions open: batch (inputs 'ids', 'mask', "
                              "'image'), image.1; the model gives input 'any' no shape"),
                    Not(HasSubstr("sequence"))));
  try {
    Import();
  } catch (const OpenShapeError& error) {
    ASSERT_EQ(error.dimensions().size(), 2u);
    EXPECT_EQ(error.dimensions()[0].name, "batch");
    EXPECT_THAT(error.dimensions()[0].inputs, ElementsAre("ids", "mask", "image"));
    EXPECT_EQ(error.dimensions()[1].name, "image.1");
    EXPECT_THAT(error.inputs(), ElementsAre("any"));
  }
}

TEST_F(InputShapesTest, OfManyInputsSomeAreNamed) {
  for (int i = 0; i < 40; ++i) AddInput("past." + std::to_string(i), {"batch"});
  EXPECT_THAT(Refusal(), HasSubstr("the model leaves a dimension open: batch (inputs 'past.0', "
                                   "'past.1', 'past.2' and 37 others)"));
}

TEST_F(InputShapesTest, DimensionsWithoutANameAreOfTheirInputAlone) {
  AddInput("x", {"", int64_t{-1}});
  AddInput("y", {"?", "None"});
  options_.dimensions = {{"x.0", 1}, {"x.1", 2}, {"y.0", 3}, {"y.1", 4}};
  EXPECT_THAT(Shapes(), ElementsAre(Shape{1, 2}, Shape{3, 4}));
}

TEST_F(InputShapesTest, AShapeGivesTheDimensionsOfOtherInputsToo) {
  AddInput("ids", {"batch", "sequence"});
  AddInput("mask", {"batch", "sequence"});
  options_.input_shapes["ids"] = {1, 128};
  EXPECT_THAT(Shapes(), ElementsAre(Shape{1, 128}, Shape{1, 128}));
}

TEST_F(InputShapesTest, AShapeReplacesWhatTheModelSays) {
  AddInput("x", {int64_t{1}, int64_t{4}});
  options_.input_shapes["x"] = {2, 4};
  EXPECT_THAT(Shapes(), ElementsAre(Shape{2, 4}));
}

TEST_F(InputShapesTest, ContradictionsAreRefused) {
  AddInput("ids", {"batch", "sequence"});
  AddInput("mask", {"batch", "sequence"});
  options_.input_shapes = {{"ids", {1, 128}}, {"mask", {1, 64}}};
  EXPECT_THAT(Refusal(), HasSubstr("dimension 'sequence' cannot be both 128 (the shape of input "
                                   "'ids') and 64 (the shape of input 'mask')"));
  options_.input_shapes.erase("mask");
  options_.dimensions = {{"batch", 2}};
  EXPECT_THAT(Refusal(), HasSubstr("dimension 'batch' cannot be both 2 (given by its name) and 1"));
  // Also within one input.
  options_ = {};
  AddInput("square", {"side", "side"});
  options_.input_shapes = {{"ids", {1, 128}}, {"square", {3, 4}}};
  EXPECT_THAT(Refusal(), HasSubstr("dimension 'side'"));
}

TEST_F(InputShapesTest, NamesThatAreNotThereListThoseThatAre) {
  AddInput("ids", {"batch", "sequence"});
  options_.dimensions = {{"bach", 1}};
  EXPECT_THAT(Refusal(), HasSubstr("no input has an open dimension 'bach'; there are: batch (input "
                                   "'ids'), sequence (input 'ids')"));
  options_ = {};
  options_.input_shapes["mask"] = {1};
  EXPECT_THAT(Refusal(), HasSubstr("there is no input 'mask' to give a shape to; there are: ids"));
  options_ = {};
  Freeze("rate", tensor::DType::kInt64, {}, {1});
  EXPECT_THAT(Refusal(), HasSubstr("there is no input 'rate' to freeze; there are: ids"));
}

TEST_F(InputShapesTest, ANameForAModelWithoutOpenDimensions) {
  AddInput("x", {int64_t{4}});
  options_.dimensions = {{"batch", 1}};
  EXPECT_THAT(Refusal(), HasSubstr("'batch'; the model leaves none open"));
}

TEST_F(InputShapesTest, InputsOfOtherTypesAreRefusedBeforeShapesAreAskedFor) {
  AddInput("x", {"batch"});
  onnx::ValueInfoProto& list = *model_.mutable_graph()->add_input();
  list.set_name("list");
  list.mutable_type()->mutable_sequence_type();
  EXPECT_THAT(Refusal(), HasSubstr("input 'list': only tensors are supported"));
}

TEST_F(InputShapesTest, FrozenInputsAreConstantsInTheInputsType) {
  AddInput("x", {"batch"});
  AddInput("rate", {}, onnx::TensorProto::INT64);
  AddInput("scale", {int64_t{1}});
  AddInput("flag", {int64_t{1}, int64_t{1}}, onnx::TensorProto::BOOL);
  Freeze("rate", tensor::DType::kFloat64, {}, {16000});
  Freeze("scale", tensor::DType::kFloat64, {}, {0.1});
  Freeze("flag", tensor::DType::kInt64, {}, {1});
  options_.dimensions = {{"batch", 2}};
  const Graph graph = Import();
  ASSERT_EQ(graph.inputs.size(), 1u);
  const auto constant = [&](size_t output) {
    return *graph.values[graph.outputs[output].value].constant;
  };
  EXPECT_EQ(constant(1).dtype, tensor::DType::kInt64);
  EXPECT_EQ(constant(1).shape, Shape{});
  EXPECT_EQ(constant(1).GetInt(0), 16000);
  EXPECT_EQ(constant(2).shape, Shape{1});
  EXPECT_EQ(constant(2).Get(0), static_cast<double>(0.1F));
  EXPECT_EQ(constant(3).shape, (Shape{1, 1}));
  EXPECT_EQ(constant(3).Get(0), 1);
}

TEST_F(InputShapesTest, FrozenValuesGiveDimensions) {
  AddInput("table", {"rows", int64_t{2}});
  AddInput("x", {"rows"});
  Freeze("table", tensor::DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Shapes(), ElementsAre(Shape{3}));
  options_.dimensions = {{"rows", 4}};
  EXPECT_THAT(Refusal(), HasSubstr("they are of shape [3, 2], the input of shape [4, 2]"));
}

TEST_F(InputShapesTest, ValuesThatTheInputCannotHaveAreRefused) {
  AddInput("small", {}, onnx::TensorProto::UINT8);
  for (const double value : {256.0, -1.0, 0.5, 1e300}) {
    Freeze("small", tensor::DType::kFloat64, {}, {value});
    EXPECT_THAT(Refusal(), HasSubstr("is no uint8")) << value;
  }
  Freeze("small", tensor::DType::kInt64, {2}, {1, 2});
  EXPECT_THAT(Refusal(), HasSubstr("they are of shape [2], the input of shape []"));
}

TEST_F(InputShapesTest, AFrozenInputDecidesWhatDependsOnIt) {
  AddInput("x", {int64_t{4}});
  AddInput("shape", {int64_t{2}}, onnx::TensorProto::INT64);
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_name("the_node");
  node.set_op_type("Reshape");
  node.add_input("x");
  node.add_input("shape");
  node.add_output("y");
  model_.mutable_graph()->add_output()->set_name("y");
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("the_node"),
                               HasSubstr("freeze the input 'shape' if its values never change")));
  Freeze("shape", tensor::DType::kInt64, {2}, {2, 2});
  const Graph graph = Import();
  EXPECT_EQ(graph.values[graph.outputs.back().value].shape, (Shape{2, 2}));
}

TEST_F(InputShapesTest, DimensionsThatAreCalledSumsFollowFromOthers) {
  AddInput("a", {"past", "sequence"});
  AddInput("b", {"past + sequence", "past + 1"});
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("past (input 'a')"), HasSubstr("sequence (input 'a')"),
                               Not(HasSubstr("+"))));
  options_.dimensions = {{"past", 7}, {"sequence", 3}};
  EXPECT_THAT(Shapes(), ElementsAre(Shape{7, 3}, Shape{10, 8}));
  options_.dimensions["past + 1"] = 9;
  EXPECT_THAT(Refusal(), HasSubstr("dimension 'past + 1' cannot be both 9"));
}

TEST(ExampleExtents, FitEachOther) {
  using Extents = std::map<std::string, int64_t>;
  EXPECT_EQ(ExampleExtents({{"batch", {}}, {"past", {}}, {"total", {}}}, 64),
            (Extents{{"batch", 1}, {"past", 64}, {"total", 65}}));
  EXPECT_EQ(ExampleExtents({{"past_sequence", {}}, {"sequence", {}}, {"total_sequence", {}}}, 64),
            (Extents{{"past_sequence", 64}, {"sequence", 64}, {"total_sequence", 128}}));
  EXPECT_EQ(ExampleExtents({{"total", {}}}, 64), (Extents{{"total", 64}}));
}

}  // namespace
}  // namespace bayloom::graph
