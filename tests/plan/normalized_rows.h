// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/plan/in_place_plan.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::testing {

inline constexpr int64_t kRows = 3, kColumns = 5003;  // a row is more than the stack takes

/// How the last stage uses t = exp(x).
enum class Use { kElement, kMirrored, kTransposedRows, kAlsoOutput };

inline tensor::Workload RowsOf(Use use, tensor::DType dtype = tensor::DType::kFloat32) {
  tensor::WorkloadBuilder b("normalized");
  const tensor::Tensor x = b.Input("x", {kRows, kColumns});
  const tensor::Tensor t = b.Compute("t", {kRows, kColumns}, [&](const auto& s) {
    return tensor::Unary(tensor::ExprOp::kExp, x(s[0], s[1]));
  });
  const tensor::Tensor sum = b.Reduce("sum", {kRows}, {{"j", kColumns}}, tensor::Reduction::kSum,
                                      [&](auto s, auto r) { return t(s[0], r[0]); });
  const tensor::Tensor y = b.Compute("y", {kRows, kColumns}, [&](const auto& s) {
    const tensor::Expr column = use == Use::kMirrored ? kColumns - 1 - s[1] : s[1];
    const tensor::Expr row = use == Use::kTransposedRows ? kRows - 1 - s[0] : s[0];
    return tensor::Cast(dtype, t(row, column) / sum(s[0]));
  });
  if (use != Use::kAlsoOutput) return b.Build({y});
  const tensor::Tensor z = b.Compute("z", {kRows, kColumns}, [&](const auto& s) {
    return t(s[0], s[1]) + tensor::FloatLiteral(1);
  });
  return b.Build({y, z});
}

/// The name of the output that keeps `t` in the program; empty if there is none.
inline std::string KeeperOf(const tensor::Program& program) {
  const tensor::BlockId writer = program.FindBlock("t");
  if (writer < 0) return "";
  const tensor::BufferId output = plan::OutputThatKeeps(program, program.blocks[writer].output);
  return output < 0 ? "" : program.buffers[output].name;
}

}  // namespace bayloom::testing
