// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Inputs and outputs have the model's names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/text_model.h"

namespace bayloom::graph {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId input : graph.inputs) names.push_back(graph.values[input].name);
  return names;
}

std::vector<std::string> OutputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs) names.push_back(output.name);
  return names;
}

TEST(TensorNames, AnInputThatIsAnOutputKeepsItsName) {
  const Graph graph =
      Import(TextModel(17, "input { " + Declare("x", kFloatType, {2}) +
                               " } output { name: 'y' } output { name: 'z' }" +
                               NodeText("Identity", {"x"}, "y") + NodeText("Dropout", {"x"}, "z")));
  EXPECT_THAT(InputNames(graph), ElementsAre("x"));
  EXPECT_THAT(OutputNames(graph), ElementsAre("y", "z"));
}

TEST(TensorNames, AreAsLongAndOfTheBytesThatTheModelHas) {
  const std::string common(100, 'n'), greek = "\xce\xb1";
  const Graph graph = Import(
      TextModel(17, "input { " + Declare(common + "1", kFloatType, {2}) + " } input { " +
                        Declare(common + "2", kFloatType, {2}) + " } output { name: '" + greek +
                        "' }" + NodeText("Add", {common + "1", common + "2"}, greek)));
  EXPECT_THAT(InputNames(graph), ElementsAre(common + "1", common + "2"));
  EXPECT_THAT(OutputNames(graph), ElementsAre(greek));
}

}  // namespace
}  // namespace bayloom::graph
