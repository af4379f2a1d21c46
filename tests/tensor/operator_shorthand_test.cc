// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/operator_shorthand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::tensor {
namespace {

uint64_t Hash(const std::string& text) { return ParseOperator(text).StructuralHash(); }

TEST(OperatorShorthand, MeansTheWorkloadsOfTheOperators) {
  EXPECT_EQ(Hash("matmul:128,768,64"), MatmulWorkload(128, 768, 64).StructuralHash());
  EXPECT_EQ(Hash("matmul:8,8,8,dtype=float64,relu,bias"),
            MatmulWorkload(8, 8, 8, DType::kFloat64, {true, false, true}).StructuralHash());
  EXPECT_EQ(Hash("matmul:8,8,8,dtype=float16,sum=float32"),
            MatmulWorkload(8, 8, 8, DType::kFloat16, {}, DType::kFloat32).StructuralHash());
  EXPECT_EQ(Hash("matmul:8,8,8,dtype=tf32"),
            MatmulWorkload(8, 8, 8, DType::kTFloat32, {}, DType::kFloat32).StructuralHash());
  EXPECT_EQ(Hash("matmul:8,8,8,dtype=float32,sum=float32"), Hash("matmul:8,8,8"));
  EXPECT_EQ(Hash("matmul:128,64,32,batch=12"),
            BatchMatmulWorkload(12, 128, 64, 32).StructuralHash());

  Conv2dShape shape{1, 56, 28, 64, 128, {3, 5}, 1, {}, {}};
  shape.options.stride = {2, 2};
  shape.options.pad_before = shape.options.pad_after = {1, 2};
  shape.epilogue = {true, true, true};
  EXPECT_EQ(Hash("conv2d:56x28x64,128,3x5,stride=2,pad=1x2,bias,residual,relu"),
            Conv2dWorkload(shape).StructuralHash());

  Conv2dShape depthwise{2, 14, 14, 96, 96, {3, 3}, 96, {}, {}};
  EXPECT_EQ(Hash("depthwise:14x14x96,3,batch=2"), Conv2dWorkload(depthwise).StructuralHash());
  EXPECT_EQ(Hash("conv2d:14x14x96,96,3,groups=96,batch=2"), Hash("depthwise:14x14x96,3,batch=2"));
}

TEST(OperatorShorthand, UnderstandsItsOwnExamples) {
  const std::string examples = OperatorExamples();
  size_t lines = 0;
  for (size_t start = 0; start < examples.size(); start = examples.find('\n', start) + 1) {
    const size_t word = examples.find_first_not_of(' ', start);
    EXPECT_NO_THROW(ParseOperator(examples.substr(word, examples.find(' ', word) - word)));
    ++lines;
  }
  EXPECT_GE(lines, 4U);
}

TEST(OperatorShorthand, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no ''"},
      {"conv3d:1,2,3", "there is no 'conv3d'"},
      {"matmul", "the M is missing"},
      {"matmul:512,512", "the K is missing"},
      {"matmul:512,0,512", "'0' is no N"},
      {"matmul:512,512,-1", "'-1' is no K"},
      {"matmul:512,512,99999999999999999999", "is no K"},
      {"matmul:512,512,512,relu6", "'relu6' is not understood"},
      {"matmul:512,512,512,512", "'512' is not understood"},
      {"matmul:512,512,512,dtype=float13", "'float13' is no element type"},
      {"matmul:8,8,8,dtype=int8,sum=float32", "'float32' is no type that products of int8"},
      {"matmul:8,8,8,dtype=float16,sum=tf32", "'tf32' is no type that products of float16"},
      {"matmul:8,8,8,batch=2,bias", "takes no bias"},
      {"matmul:9000000,9000000,8", "more than 2^31 elements"},
      {"conv2d:56x56,64,3", "'56x56' is no image HxWxC"},
      {"conv2d:56x56x64,64", "the kernel is missing"},
      {"conv2d:56x56x64,64,3x3x3", "kernel takes one or two numbers"},
      {"conv2d:56x56x64,64,3,stride=0", "'0' is no stride"},
      {"conv2d:56x56x64,64,3,stride=", "'' is no stride"},
      {"conv2d:56x56x64,64,3,groups=5", "multiples of the 5 groups"},
      {"conv2d:4x4x8,8,7", "operator 'conv2d:4x4x8,8,7'"},
  };
  for (const auto& [text, reason] : cases) {
    try {
      ParseOperator(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(reason));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("; try "));
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
    }
  }
}

}  // namespace
}  // namespace bayloom::tensor
