// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products with weights that stay as narrow integers in memory.
#include "bayloom/graph/operators/packed_weights.h"

#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;

/// Rows [m, k] as [m, blocks, bytes, levels in a byte]; zeros beyond k.
tensor::Tensor InBlocks(OperatorContext& context, const tensor::Tensor& rows,
                        const PackedWeights& weights) {
  const int64_t missing = weights.blocks() * weights.size - weights.k;
  const tensor::Tensor whole =
      missing == 0 ? rows
                   : PadWith(context, rows, {0, 0}, {0, missing}, tensor::Literal(0, rows.dtype()));
  const int64_t together = 8 / weights.bits;
  return context.builder().View(
      whole, {rows.shape()[0], weights.blocks(), weights.size / together, together});
}

/// Level number `part` of a byte.
Expr LevelOf(const Expr& byte, const Expr& part, int64_t bits) {
  if (bits == 8) return byte;
  const Expr wide = tensor::Cast(DType::kInt32, byte);
  const Expr shift = tensor::Cast(DType::kInt32, part * Expr(bits));
  const Expr shifted = tensor::Binary(tensor::ExprOp::kShiftRight, wide, shift);
  const Expr mask = tensor::IntLiteral((int64_t{1} << bits) - 1, DType::kInt32);
  return tensor::Binary(tensor::ExprOp::kAnd, shifted, mask);
}

}  // namespace

tensor::Tensor PackedProduct(OperatorContext& context, const tensor::Tensor& rows,
                             const PackedWeights& weights) {
  const tensor::Tensor a = InBlocks(context, rows, weights);
  const int64_t together = a.shape()[3];
  std::vector<GraphBuilder::Axis> axes = {{"block", a.shape()[1]}, {"k", a.shape()[2]}};
  if (together > 1) axes.push_back({"part", together});
  return context.builder().Reduce(
      "matmul", {rows.shape()[0], weights.n()}, axes, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Expr part = together > 1 ? r[2] : Expr(0);
        const Expr level = LevelOf(weights.levels(r[0], r[1], s[1]), part, weights.bits);
        const Expr weight = tensor::Cast(DType::kFloat32, level) * weights.scales(r[0], s[1]) +
                            weights.offsets(r[0], s[1]);
        return a(s[0], r[0], r[1], part) * weight;
      },
      NodeKind::kMatmul);
}

std::optional<PackedWeights> PackWeights(OperatorContext& context, const tensor::Tensor& integers,
                                         const tensor::Tensor& scales,
                                         const std::optional<tensor::Tensor>& zeros, int64_t size,
                                         int64_t low, int64_t bits) {
  GraphBuilder& builder = context.builder();
  const bool is_known = builder.ConstantOf(integers) && builder.ConstantOf(scales) &&
                        (!zeros || builder.ConstantOf(*zeros));
  const int64_t k = integers.shape()[0], n = integers.shape()[1], blocks = scales.shape()[0];
  if (!is_known || size * bits % 8 != 0) return std::nullopt;
  const int64_t together = 8 / bits;
  const tensor::Tensor levels =
      builder.Map("pack", {blocks, size / together, n}, [&](const Exprs& s) {
        Expr byte = tensor::IntLiteral(0, DType::kInt32);
        for (int64_t part = 0; part < together; ++part) {
          const Expr row = s[0] * Expr(size) + s[1] * Expr(together) + Expr(part);
          const Expr level = tensor::Cast(DType::kInt32, integers(row, s[2])) -
                             tensor::IntLiteral(low, DType::kInt32);
          const Expr shifted =
              level * tensor::IntLiteral(int64_t{1} << (part * bits), DType::kInt32);
          const Expr none = tensor::IntLiteral(0, DType::kInt32);
          const bool may_miss = blocks * size > k;
          byte = byte + (may_miss ? tensor::Select(row < Expr(k), shifted, none) : shifted);
        }
        return tensor::Cast(DType::kUInt8, byte);
      });
  const tensor::Tensor offsets = builder.Map("offset", {blocks, n}, [&](const Exprs& s) {
    Expr zero = tensor::FloatLiteral(0);
    if (zeros) zero = tensor::Cast(DType::kFloat32, (*zeros)(s[0], s[1]));
    return (tensor::FloatLiteral(static_cast<double>(low)) - zero) * scales(s[0], s[1]);
  });
  if (!builder.ConstantOf(levels) || !builder.ConstantOf(offsets)) return std::nullopt;
  return PackedWeights{levels, scales, offsets, k, size, bits};
}

std::optional<tensor::Tensor> ProductWithBlocks(OperatorContext& context, const tensor::Tensor& x,
                                                const tensor::Tensor& matrix, int k_axis) {
  const BlockFloats* known = context.builder().known_floats().FindBlocks(matrix);
  if (!known || known->axis != k_axis || x.dtype() != DType::kFloat32 || Rank(x) < 1 ||
      x.shape().back() != matrix.shape()[k_axis]) {
    return std::nullopt;
  }
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end() - 1);
  const int64_t m = CheckedElementCount(shape);
  if (m > kMaxRowsOfPackedProducts) return std::nullopt;
  const auto rows_first = [&](const tensor::Tensor& t) {
    return k_axis == 0 ? t : Permute(context, t, {1, 0});
  };
  std::optional<tensor::Tensor> zeros;
  if (known->zeros) zeros = rows_first(*known->zeros);
  const auto weights = PackWeights(context, rows_first(known->integers), rows_first(known->scales),
                                   zeros, known->block, known->low, known->bits);
  if (!weights) return std::nullopt;
  GraphBuilder& builder = context.builder();
  const tensor::Tensor y = PackedProduct(context, builder.View(x, {m, x.shape().back()}), *weights);
  shape.push_back(weights->n());
  return builder.View(y, shape);
}

}  // namespace bayloom::graph
