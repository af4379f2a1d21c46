// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <string>
#include <vector>

#include "bayloom/base/shorthand.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {
namespace {

Problem ParseMatmul(base::Shorthand& line) {
  const int64_t i = line.Number("M");
  const int64_t j = line.Number("N");
  const int64_t k = line.Number("K");
  const int64_t batch = line.NumberOption("batch", 1);
  line.ExpectNoMore();
  return batch == 1 ? MatmulProblem(i, j, k) : BatchMatmulProblem(batch, i, j, k);
}

Problem ParseConvolution(base::Shorthand& line, bool depthwise) {
  const std::vector<int64_t> image = line.Numbers("image HxWxC", 3);
  ConvolutionShape shape;
  shape.c = image[2];
  if (!depthwise) shape.m = line.Number("number of output channels");
  const std::array<int64_t, 2> kernel = line.Pair("kernel");
  shape.r = kernel[0];
  shape.s = kernel[1];
  shape.n = line.NumberOption("batch", 1);
  const auto stride = line.PairOption("stride", 1);
  const auto dilation = line.PairOption("dilation", 1);
  const auto pad = line.PairOption("pad", 0);
  line.ExpectNoMore();
  const auto output = [&](int axis) {
    const int64_t span = dilation[axis] * (kernel[axis] - 1) + 1;
    const int64_t padded = image[axis] + 2 * pad[axis];
    if (span > padded) line.Refuse("the kernel does not fit into the image");
    return (padded - span) / stride[axis] + 1;
  };
  shape.p = output(0);
  shape.q = output(1);
  shape.p_stride = stride[0];
  shape.q_stride = stride[1];
  shape.r_dilation = dilation[0];
  shape.s_dilation = dilation[1];
  return depthwise ? DepthwiseProblem(shape) : Conv2dProblem(shape);
}

struct Operation {
  std::string_view name;
  std::string_view example;
  Problem (*parse)(base::Shorthand&);
};

constexpr Operation kOperations[] = {
    {"matmul", "matmul:512,512,512", ParseMatmul},
    {"conv2d", "conv2d:56x56x64,128,3x3,stride=2,pad=1",
     [](base::Shorthand& line) { return ParseConvolution(line, false); }},
    {"depthwise", "depthwise:56x56x144,3x3,pad=1",
     [](base::Shorthand& line) { return ParseConvolution(line, true); }},
};

}  // namespace

Problem ParseProblem(std::string_view text) {
  base::Shorthand line("operation", text);
  for (const Operation& operation : kOperations) {
    if (operation.name != line.name()) continue;
    line.SetExample(operation.example);
    Problem problem = operation.parse(line);
    CheckProblem(problem);
    return problem;
  }
  line.SetExample(kOperations[0].example);
  line.Refuse("there are matmul, conv2d and depthwise");
}

}  // namespace bayloom::mapspace
