// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/workload_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace bayloom::tensor {
namespace {

using Json = nlohmann::json;

/// A padded, strided 1-d convolution with bias and a lookup: every kind of node that matters.
Workload Sample() {
  WorkloadBuilder b("sample");
  Tensor x = b.Input("x", {16});
  Tensor w = b.Constant("w", {3, 4});
  Tensor bias = b.Constant("bias", {4});
  Tensor table = b.Input("table", {8}, DType::kInt64);
  Tensor padded = b.Compute("padded", {18}, [&](const auto& i) {
    return Select(IntLiteral(1) <= i[0] && i[0] < IntLiteral(17), x(i[0] - 1),
                  FloatLiteral(-std::numeric_limits<double>::infinity()));
  });
  Tensor c = b.Reduce("c", {8, 4}, {{"k", 3}}, Reduction::kSum, [&](const auto& s, const auto& r) {
    return padded(s[0] * 2 + r[0]) * w(r[0], s[1]);
  });
  Tensor out = b.Compute("out", {8, 4}, [&](const auto& i) {
    Expr shared = c(i[0], i[1]) + bias(FloorMod(table(i[0]), 4));
    return shared * Unary(ExprOp::kTanh, shared) + FloatLiteral(0.1);
  });
  return b.Build({out});
}

TEST(WorkloadJson, RoundTripsThroughText) {
  const Workload workload = Sample();
  const Json json = WorkloadToJson(workload);
  Result<Workload> back = WorkloadFromJson(Json::parse(json.dump()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(WorkloadToJson(*back), json);
  EXPECT_EQ(back->StructuralHash(), workload.StructuralHash());
  EXPECT_EQ(back->name, workload.name);
  ASSERT_EQ(back->stages.size(), workload.stages.size());
  for (size_t i = 0; i < workload.stages.size(); ++i) {
    EXPECT_TRUE(StructurallyEqual(back->stages[i].value, workload.stages[i].value));
    EXPECT_EQ(back->stages[i].iters.size(), workload.stages[i].iters.size());
  }
  EXPECT_EQ(back->Flops(), workload.Flops());
}

TEST(WorkloadJson, SharedSubexpressionsStayShared) {
  Expr e = Load(0, DType::kFloat32, {IterVar(0)});
  for (int i = 0; i < 200; ++i) e = Binary(ExprOp::kAdd, e, e);  // 2^200 nodes if written out
  Workload workload;
  workload.buffers = {
      {"x", DType::kFloat32, {2}, BufferRole::kInput, StorageScope::kGlobal, {}, {}},
      {"y", DType::kFloat32, {2}, BufferRole::kOutput, StorageScope::kGlobal, {}, {}}};
  workload.stages = {{"y", 1, {{"i", 2, IterKind::kSpatial}}, e, Reduction::kNone}};
  EXPECT_EQ(WorkloadToJson(workload)["stages"][0]["value"].size(), 202u);
}

TEST(WorkloadJson, EveryOperationHasAName) {
  for (int op = 0; op <= static_cast<int>(ExprOp::kIsInf); ++op) {
    auto node = std::make_shared<ExprNode>();
    node->op = static_cast<ExprOp>(op);
    Workload workload;
    workload.stages = {{"s", 0, {}, Expr(std::shared_ptr<const ExprNode>(node)), {}}};
    EXPECT_NO_THROW(WorkloadToJson(workload)) << op;
  }
}

TEST(WorkloadJson, RefusesWhatIsNotAWorkload) {
  const Json good = WorkloadToJson(Sample());
  const auto error = [&](const char* pointer, Json value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = std::move(value);
    Result<Workload> result = WorkloadFromJson(bad);
    return result ? "accepted" : result.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error("/buffers/0/dtype", "float31"), HasSubstr("buffer 0: unknown element type"));
  EXPECT_THAT(error("/buffers/0/shape/0", 0), HasSubstr("at least one element"));
  EXPECT_THAT(error("/buffers/1/role", 7), HasSubstr("buffer 1"));
  EXPECT_THAT(error("/stages/1/output", 99), HasSubstr("output buffer 99 is not one of"));
  EXPECT_THAT(error("/stages/1/iters/0/1", 9), HasSubstr("runs over a dimension"));
  EXPECT_THAT(error("/stages/1/value", Json::array()), HasSubstr("has a value"));
  EXPECT_THAT(error("/stages/1/value/0", {"add", "float32", 5, 5}), HasSubstr("node 5 is not"));
  EXPECT_THAT(error("/stages/1/value/0", {"frob", "float32"}), HasSubstr("unknown operation"));
  EXPECT_THAT(error("/stages/1/reduction", "none"), HasSubstr("if and only if"));
  EXPECT_THAT(error("/stages", Json::array()), HasSubstr("never written"));
  EXPECT_FALSE(WorkloadFromJson(Json()));
  EXPECT_FALSE(WorkloadFromJson(Json::array({1, 2})));
}

/// A stage whose value is `node(i)` for every i, each of which may use those before it.
Json WithValue(int nodes, const std::function<Json(int)>& node) {
  Json json = WorkloadToJson(Sample());
  Json value = Json::array({{"float", "float32", 1.0}});
  for (int i = 0; i < nodes; ++i) value.push_back(node(i));
  json["stages"][2]["value"] = value;
  return json;
}

TEST(WorkloadJson, ExpressionsBeyondTheLimitsAreRefused) {
  const auto chain = [](int i) { return Json{"negate", "float32", i}; };
  const auto doubling = [](int i) { return Json{"add", "float32", i, i}; };
  EXPECT_TRUE(WorkloadFromJson(WithValue(900, chain)));
  EXPECT_TRUE(WorkloadFromJson(WithValue(15, doubling)));
  const auto refusal = [](const Json& json) { return WorkloadFromJson(json).error().message; };
  EXPECT_THAT(refusal(WithValue(100000, chain)),
              ::testing::HasSubstr("nested more than 1000 deep"));
  EXPECT_THAT(refusal(WithValue(60, doubling)), ::testing::HasSubstr("more than a million parts"));
}

/// Damage that stays valid JSON is refused or gives a workload that can be written again.
TEST(WorkloadJson, DamagedRecordsNeverCrash) {
  const Json good = WorkloadToJson(Sample());
  const Json flat = good.flatten();
  const Json replacements = {nullptr, -1, 1000000, "x", 0.5, Json::array(), Json::object(), true};
  int accepted = 0;
  for (const auto& [pointer, original] : flat.items()) {
    for (const Json& replacement : replacements) {
      Json bad = good;
      bad[Json::json_pointer(pointer)] = replacement;
      if (Result<Workload> result = WorkloadFromJson(bad)) {
        EXPECT_NO_THROW(WorkloadToJson(*result));
        ++accepted;
      }
    }
  }
  EXPECT_LT(accepted, static_cast<int>(flat.size()));  // names may be anything, little else
}

}  // namespace
}  // namespace bayloom::tensor
