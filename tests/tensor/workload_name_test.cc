// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/workload_name.h"

#include <gtest/gtest.h>

#include <set>

#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom::tensor {
namespace {

TEST(WorkloadName, SaysWhatIsNotUsual) {
  const auto name = [](const char* line) { return NameOf(ParseOperator(line)); };
  EXPECT_EQ(name("matmul:32,64,128"), "matmul 32x64 over 128");
  EXPECT_EQ(name("matmul:32,64,128,dtype=float16"), "matmul 32x64 over 128, float16");
  const std::string plain = name("conv2d:56x56x64,128,3x3,pad=1");
  EXPECT_NE(plain.find("1x56x56x128 over 3x3x64"), std::string::npos) << plain;
  EXPECT_EQ(plain.find(','), std::string::npos) << plain;
  EXPECT_NE(name("conv2d:56x56x64,128,3x3,pad=1,stride=2").find(", stride 2"), std::string::npos);
  EXPECT_NE(name("conv2d:56x56x64,128,3x3,stride=2x1").find(", stride 2"), std::string::npos);
  EXPECT_NE(name("conv2d:56x56x64,128,3x3,dilation=2").find(", dilation 2"), std::string::npos);
  EXPECT_NE(name("matmul:32,64,128,residual").find(", residual"), std::string::npos);
  EXPECT_EQ(name("matmul:32,64,128,bias").find(", residual"), std::string::npos);
}

TEST(WorkloadName, OperatorsThatDifferHaveNamesThatDiffer) {
  std::set<std::string> names;
  int count = 0;
  for (const char* options :
       {"", ",bias", ",relu", ",residual", ",bias,relu", ",bias,residual", ",dtype=float64"}) {
    for (const char* window : {"", ",stride=2", ",dilation=2", ",stride=2x1", ",stride=1x2",
                               ",pad=1", ",groups=2", ",batch=2"}) {
      const std::string line = std::string("conv2d:15x15x8,16,3x3") + window + options;
      EXPECT_TRUE(names.insert(NameOf(ParseOperator(line))).second) << line;
      ++count;
    }
  }
  for (const std::string& name : names) EXPECT_LE(name.size(), 100u) << name;
  EXPECT_EQ(static_cast<int>(names.size()), count);
}

/// Two workloads that differ in a way no name tells: what a constant is.
Workload Scaled(double factor) {
  WorkloadBuilder b("scale");
  const Tensor x = b.Input("x", {8});
  const Tensor y =
      b.Compute("y", {8}, [&](const auto& s) { return x(s[0]) * FloatLiteral(factor); });
  return b.Build({y});
}

TEST(WorkloadName, ListedTogetherNoTwoAreTheSame) {
  std::vector<Workload> workloads;
  for (int i = 1; i <= 2000; ++i) workloads.push_back(Scaled(i));
  workloads.push_back(Scaled(1));
  workloads.push_back(ParseOperator("matmul:8,8,8"));
  std::vector<const Workload*> all;
  for (const Workload& workload : workloads) all.push_back(&workload);
  const std::vector<std::string> names = NamesOf(all);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 2001u);
  EXPECT_EQ(names[0], names[2000]);
  EXPECT_EQ(names[2001], "matmul 8x8 over 8");
  EXPECT_EQ(NamesOf(std::vector<const Workload*>{all[0], all[2000]})[1], "scale 8");
}

TEST(WorkloadName, LongChainsAreShortened) {
  WorkloadBuilder b("begin" + std::string(300, '+') + "end");
  const Tensor x = b.Input("x", {8});
  const Workload workload =
      b.Build({b.Compute("y", {8}, [&](const auto& s) { return x(s[0]) + x(s[0]); })});
  const std::string name = NameOf(workload);
  EXPECT_LT(name.size(), 60u);
  EXPECT_TRUE(name.starts_with("begin"));
  EXPECT_TRUE(name.ends_with("end 8"));
}

}  // namespace
}  // namespace bayloom::tensor
