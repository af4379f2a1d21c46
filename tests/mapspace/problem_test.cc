// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Problem, ShortFormsSayWhatTheyMean) {
  EXPECT_EQ(ParseProblem("matmul:2,3,4"), MatmulProblem(2, 3, 4));
  EXPECT_EQ(ParseProblem("matmul:2,3,4,batch=5"), BatchMatmulProblem(5, 2, 3, 4));
  EXPECT_EQ(ParseProblem("conv2d:56x56x64,128,3x3,stride=2,pad=1").Describe(),
            "conv2d R=3 S=3 P=28 Q=28 C=64 M=128 N=1 (2P+R, 2Q+S)");
  EXPECT_EQ(ParseProblem("conv2d:9x7x1,1,3x2,dilation=2x1,batch=4").Describe(),
            "conv2d R=3 S=2 P=5 Q=6 C=1 M=1 N=4 (P+2R)");
  EXPECT_EQ(ParseProblem("depthwise:8x8x6,3x3,pad=1").Describe(),
            "depthwise R=3 S=3 P=8 Q=8 C=6 N=1");
}

TEST(Problem, BadShortFormsAreRefusedWithOneThatWorks) {
  for (const char* line : {"matmul:2,3", "matmul:2,3,x", "matmul:2,3,4,relu", "conv2d:8x8,3,3x3",
                           "conv2d:2x2x1,1,3x3", "matmul:0,1,1", "matmul"}) {
    EXPECT_THAT([&] { ParseProblem(line); }, ThrowsMessage<InputError>(HasSubstr("; try ")))
        << line;
  }
  EXPECT_THROW(ParseProblem("gemm:1,2,3"), InputError);
}

TEST(Problem, BoxesHoldWindows) {
  const Problem problem =
      Conv2dProblem({.r = 3, .s = 3, .p = 4, .q = 4, .p_stride = 2, .s_dilation = 2});
  const DataSpace& inputs = problem.tensors[problem.TensorNamed("Inputs")];
  // Along P and R: 2 * 3 + 2 + 1 = 9; along Q and S: 3 + 2 * 2 + 1 = 8.
  EXPECT_EQ(inputs.BoxWords({3, 3, 4, 4, 1, 1, 1, 1}), 9 * 8);
  EXPECT_EQ(inputs.BoxWords({1, 1, 1, 1, 1, 1, 1, 1}), 1);
}

TEST(Problem, TimeloopsFilesGoThereAndBack) {
  for (const Problem& problem :
       {MatmulProblem(4, 5, 6), BatchMatmulProblem(2, 3, 4, 5),
        Conv2dProblem({.r = 3, .p = 8, .c = 4, .p_stride = 2, .s_dilation = 3}),
        DepthwiseProblem({.s = 5, .q = 7, .c = 3})}) {
    EXPECT_EQ(ParseProblemYaml(PrintProblemYaml(problem), "printed"), problem);
  }
}

TEST(Problem, FilesSayWhereTheyAreWrong) {
  const auto refusal = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { ParseProblemYaml(text, "p.yaml"); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refusal("problem:\n  I: 4\n", "p.yaml:2:3: problem: 'shape' is missing");
  const std::string shape =
      "problem:\n  shape:\n    dimensions: [ I, J ]\n    data-spaces:\n"
      "    - name: A\n      projection:\n      - [ [K] ]\n";
  refusal(shape + "  I: 4\n", "p.yaml:2:3: problem: 'J' is missing");
  refusal(shape + "  I: 4\n  J: four\n",
          "p.yaml:9:6: problem.J: expected a whole number, found 'four'");
  refusal(shape + "  I: 4\n  J: 4\n",
          "p.yaml:7:11: problem.shape.data-spaces[0].projection[0][0]: there is no dimension 'K'");
  refusal("problem: [", "p.yaml:1:");
}

}  // namespace
}  // namespace bayloom::mapspace
