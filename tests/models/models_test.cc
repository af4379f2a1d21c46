// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "examples/models/models.h"

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <filesystem>

#include "bayloom/base/result.h"

namespace bayloom::models {
namespace {

/// Trainable parameters, as frameworks count them: floating-point initializers of rank one or
/// more, without the running statistics of batch normalization.
int64_t ParameterCount(const onnx::ModelProto& model) {
  int64_t count = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    const bool statistic = tensor.name().find(".running_") != std::string::npos;
    if (tensor.data_type() != onnx::TensorProto::FLOAT || tensor.dims_size() == 0 || statistic) {
      continue;
    }
    int64_t elements = 1;
    for (int64_t extent : tensor.dims()) elements *= extent;
    count += elements;
  }
  return count;
}

TEST(Models, HaveTheParameterCountsOfTheirPapersImplementations) {
  const std::pair<const char*, int64_t> expected[] = {
      {"squeezenet1.1", 1235496},   {"mobilenet_v2", 3504872},  {"resnet18", 11689512},
      {"resnet50", 25557032},       {"vgg16", 138357544},       {"bert_tiny", 4369408},
      {"bert_base", 108891648},     {"gpt2_block", 7087872},    {"densenet121", 7978856},
      {"inception_v3", 23834568},   {"voice_detector", 309633}, {"keyword_spotter", 165900},
      {"sequence_tagger", 4737044},
  };
  ASSERT_EQ(std::size(expected), Models().size());
  for (const auto& [name, count] : expected) {
    EXPECT_EQ(ParameterCount(FindModel(name).build(0).model()), count) << name;
  }
}

TEST(Models, AreValidAndKeepTheirDeclaredShapesUnderInference) {
  for (const char* name :
       {"squeezenet1.1", "mobilenet_v2", "densenet121", "resnet18", "inception_v3", "bert_tiny",
        "gpt2_block", "voice_detector", "keyword_spotter", "sequence_tagger"}) {
    onnx::ModelProto model = FindModel(name).build(0).model();
    EXPECT_NO_THROW(onnx::checker::check_model(model)) << name;
    const onnx::ShapeInferenceOptions strict(/*check_type=*/true, /*error_mode=*/1,
                                             /*enable_data_propagation=*/true);
    EXPECT_NO_THROW(
        onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict))
        << name;
    EXPECT_GE(model.graph().value_info_size(), model.graph().node_size() - 1) << name;
  }
}

TEST(Models, AreAFunctionOfTheSeed) {
  const auto bytes = [](uint64_t seed) { return BertTiny(seed).model().SerializeAsString(); };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

TEST(Models, RefuseUnknownNamesAndUnwritablePlaces) {
  EXPECT_THROW(FindModel("resnet1"), InputError);
  const auto folder = std::filesystem::path(testing::TempDir()) / "models_test_no_such_folder";
  EXPECT_THROW(SqueezeNet11(0).Save(folder / "model.onnx"), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace bayloom::models
