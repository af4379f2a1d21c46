// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/graph/import.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A model with the float input x[4] and a constant list of integers; its only node takes both.
onnx::ModelProto ModelWith(const std::string& op, const std::vector<int64_t>& numbers) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(14);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("one_node");
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("x");
  auto& type = *x.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_value(4);
  graph.add_output()->set_name("y");
  onnx::TensorProto& constant = *graph.add_initializer();
  constant.set_name("n");
  constant.set_data_type(onnx::TensorProto::INT64);
  constant.add_dims(static_cast<int64_t>(numbers.size()));
  for (const int64_t number : numbers) constant.add_int64_data(number);
  onnx::NodeProto& node = *graph.add_node();
  node.set_name("the_node");
  node.set_op_type(op);
  node.add_input("x");
  node.add_input("n");
  node.add_output("y");
  return model;
}

/// What an import says of the model; it has to be the model that is to blame.
std::string Refusal(const onnx::ModelProto& model) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  base::WriteFile(path, model.SerializeAsString());
  try {
    ImportOnnx(path);
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith(path + ": "));
    return error.what();
  }
  ADD_FAILURE() << "the model was accepted";
  return "";
}

TEST(ImportErrors, ConstantsThatCannotBeUsedAreTheModelsFault) {
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{}, {0, 0}}) {
    EXPECT_THAT(
        Refusal(ModelWith("CumSum", axes)),
        AllOf(HasSubstr("node 'the_node' (CumSum, operator set 14)"), HasSubstr("one integer")));
  }
}

TEST(ImportErrors, AMissingShapeIsNamedWithoutAnOption) {
  onnx::ModelProto model = ModelWith("Reshape", {2, 2});
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_THAT(Refusal(model),
              AllOf(HasSubstr("input 'x'"), HasSubstr("no shape"), Not(HasSubstr("--"))));
}

TEST(ImportErrors, TwoInputsOfOneName) {
  onnx::ModelProto model = ModelWith("Reshape", {2, 2});
  *model.mutable_graph()->add_input() = model.graph().input(0);
  EXPECT_THAT(Refusal(model), HasSubstr("there are two inputs 'x'"));
}

TEST(ImportErrors, FilesThatAreNoModels) {
  const TemporaryFolder folder;
  EXPECT_THROW(ImportOnnx(folder / "missing.onnx"), InputError);
  base::WriteFile(folder / "text.onnx", "no model");
  EXPECT_THROW(ImportOnnx(folder / "text.onnx"), InputError);
}

}  // namespace
}  // namespace bayloom::graph
