// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/schema_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include "tests/graph/text_model.h"

namespace bayloom::graph {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SchemaTable, TheVersionThatHoldsIsTheNewestThatIsNotNewer) {
  EXPECT_EQ(FindSchema("", "Pad", 12)->since, 11);
  EXPECT_EQ(FindSchema("", "Pad", 18)->since, 18);
  EXPECT_EQ(FindSchema("", "Pad", 20)->since, 19);
  EXPECT_EQ(FindSchema("", "Gelu", 19), nullptr);
  EXPECT_EQ(FirstVersion("", "Gelu"), 20);
  EXPECT_EQ(FirstVersion("com.microsoft", "SkipLayerNormalization"), 1);
  EXPECT_EQ(FirstVersion("com.microsoft", "Pad2"), 0);
  EXPECT_TRUE(FindSchema("", "Upsample", 10)->is_deprecated);
  EXPECT_GE(NewestOpset(), 28);
}

TEST(SchemaTable, VariadicAndOptionalParameters) {
  const Schema& concat = *FindSchema("", "Concat", 13);
  EXPECT_EQ(Schema::At(concat.inputs, 7), &concat.inputs[0]);
  const Schema& clip = *FindSchema("", "Clip", 13);
  EXPECT_EQ(clip.inputs[2].option, SchemaParameter::Option::kOptional);
  EXPECT_EQ(Schema::At(clip.inputs, 3), nullptr);
}

TEST(SchemaTable, DefaultsAndFunctionsCanBeRead) {
  const Schema& lrn = *FindSchema("", "LRN", 13);
  for (const SchemaAttribute& attribute : lrn.attributes) {
    EXPECT_EQ(attribute.is_required, attribute.name == "size");
    if (attribute.name == "alpha") {
      EXPECT_EQ(DefaultOf(attribute).f(), 1e-4F);
    }
  }
  const auto body = FunctionBody(*FindSchema("", "MeanVarianceNormalization", 13));
  ASSERT_TRUE(body.has_value());
  EXPECT_GT(body->node_size(), 3);
  EXPECT_GT(body->opset_import_size(), 0);
  EXPECT_FALSE(FunctionBody(*FindSchema("", "Conv", 11)).has_value());
}

/// The installed library of ONNX knows the older schemas, too: both say the same of them.
TEST(SchemaTable, AgreesWithTheLibrary) {
  int compared = 0;
  for (const onnx::OpSchema& theirs : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!theirs.domain().empty()) continue;
    SCOPED_TRACE(theirs.Name() + " " + std::to_string(theirs.since_version()));
    const Schema* ours = FindSchema("", theirs.Name(), theirs.since_version());
    ASSERT_NE(ours, nullptr);
    EXPECT_EQ(ours->since, theirs.since_version());
    EXPECT_EQ(ours->is_deprecated, theirs.deprecated());
    if (theirs.deprecated()) continue;
    EXPECT_EQ(ours->inputs.size(), theirs.inputs().size());
    EXPECT_EQ(ours->outputs.size(), theirs.outputs().size());
    EXPECT_EQ(ours->attributes.size(), theirs.attributes().size());
    for (const SchemaAttribute& attribute : ours->attributes) {
      const auto found = theirs.attributes().find(std::string(attribute.name));
      ASSERT_NE(found, theirs.attributes().end()) << attribute.name;
      EXPECT_EQ(attribute.type, found->second.type) << attribute.name;
      EXPECT_EQ(attribute.is_required, found->second.required) << attribute.name;
      if (!attribute.default_value || !found->second.default_value.has_name()) continue;
      EXPECT_EQ(DefaultOf(attribute).SerializeAsString(),
                found->second.default_value.SerializeAsString());
    }
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

// --- What is refused, and how ------------------------------------------------------------------

std::string RefusalOfNode(int opset, const std::string& node) {
  return RefusalOf(TextModel(opset, "input { " + Declare("x", 1, {2, 3}) + " } input { " +
                                        Declare("n", 6, {2, 3}) + " } " + Integers("i", {0, 1}) +
                                        " output { name: 'y' } node { name: 'it' output: 'y' " +
                                        node + " }"));
}

TEST(NodeChecks, OperatorsOfAnotherVersionOrDomain) {
  EXPECT_EQ(
      RefusalOfNode(19, "op_type: 'Gelu' input: 'x'"),
      "node 'it' (Gelu, operator set 19): the operator exists since operator set 20; the model "
      "uses 19");
  EXPECT_EQ(
      RefusalOfNode(13, "op_type: 'Upsample' input: 'x' input: 'x'"),
      "node 'it' (Upsample, operator set 13): the operator was removed in operator set 10; the "
      "model uses 13");
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Geluu' input: 'x'"),
              HasSubstr("ONNX has no such operator"));
  EXPECT_EQ(
      RefusalOfNode(13, "domain: 'com.microsoft' op_type: 'Geluu' input: 'x'"),
      "node 'it' (com.microsoft.Geluu, version 1): domain com.microsoft: there is no operator "
      "Geluu that Bayloom knows");
  EXPECT_THAT(RefusalOfNode(13, "domain: 'mine' op_type: 'Gelu' input: 'x'"),
              HasSubstr("imports no operator set for the domain 'mine'"));
  EXPECT_THAT(RefusalOfNode(NewestOpset() + 1, "op_type: 'Relu' input: 'x'"),
              HasSubstr("supported are 7 to " + std::to_string(NewestOpset())));
}

TEST(NodeChecks, NumbersOfInputsAndOutputs) {
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Add' input: 'x'"),
              HasSubstr("1 input; the operator needs 2"));
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Relu' input: 'x' input: 'x'"),
              HasSubstr("2 inputs; the operator has at most 1"));
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Add' input: 'x' input: ''"),
              HasSubstr("input 1 ('B') is missing"));
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Relu' input: 'x' output: 'z'"),
              HasSubstr("2 outputs; the operator has at most 1"));
}

TEST(NodeChecks, Attributes) {
  EXPECT_THAT(
      RefusalOfNode(13, "op_type: 'Relu' input: 'x' attribute { name: 'alpha' type: FLOAT }"),
      HasSubstr("attribute alpha: the operator has none of this name in version 13"));
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Concat' input: 'x'"),
              HasSubstr("attribute axis is missing"));
  EXPECT_THAT(
      RefusalOfNode(13, "op_type: 'Concat' input: 'x' attribute { name: 'axis' type: FLOAT }"),
      HasSubstr("attribute axis has to be an integer"));
}

TEST(NodeChecks, TypesOfInputs) {
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Sqrt' input: 'n'"),
              AllOf(HasSubstr("input 0 ('X') may not be of int32"), HasSubstr("float16")));
  EXPECT_THAT(RefusalOfNode(13, "op_type: 'Add' input: 'x' input: 'n'"),
              HasSubstr("inputs 0 and 1 have to be of one type, not float and int32"));
}

}  // namespace
}  // namespace bayloom::graph
