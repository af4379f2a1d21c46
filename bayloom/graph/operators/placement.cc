// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that put elements into larger images, or cut images out.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/phases.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;

std::vector<int64_t> NumbersPerAxis(OperatorContext& context, const char* name, size_t count,
                                    int64_t otherwise, int64_t least) {
  const std::vector<int64_t> values = context.Ints(name, std::vector<int64_t>(count, otherwise));
  if (values.size() != count) {
    context.Refuse(fmt::format("attribute {} needs {} numbers", name, count));
  }
  for (int64_t value : values) {
    if (value < least || value > (int64_t{1} << 31)) {
      context.RefuseAttribute(name, fmt::format("{}", value),
                              fmt::format("has to be at least {}", least));
    }
  }
  return values;
}

void CheckExtent(OperatorContext& context, int64_t extent) {
  if (extent < 1 || extent > (int64_t{1} << 31)) {
    context.Refuse(fmt::format("an extent of {}", extent));
  }
}

/// Blocks of an image, summed where they overlap. Every element of the image adds up what the
/// blocks hold for it: element k of the block that begins k * dilation before.
struct BlockSums {
  std::vector<int64_t> image, block, strides, dilations, pads, counts;
};

BlockSums ReadBlockSums(OperatorContext& context, const tensor::Tensor& x) {
  BlockSums b{context.IntsInput(1), context.IntsInput(2), {}, {}, {}, {}};
  const size_t axes = b.image.size();
  if (axes < 1 || b.block.size() != axes || Rank(x) != 3) {
    context.Refuse("input, image_shape and block_shape do not fit together");
  }
  b.strides = NumbersPerAxis(context, "strides", axes, 1, 1);
  b.dilations = NumbersPerAxis(context, "dilations", axes, 1, 1);
  b.pads = NumbersPerAxis(context, "pads", 2 * axes, 0, 0);
  for (size_t d = 0; d < axes; ++d) {
    CheckExtent(context, b.image[d]);
    CheckExtent(context, b.block[d]);
    const int64_t reach = (b.block[d] - 1) * b.dilations[d] + 1;
    const int64_t room = b.image[d] + b.pads[d] + b.pads[axes + d] - reach;
    if (room < 0) context.Refuse("the blocks do not fit");
    b.counts.push_back(room / b.strides[d] + 1);
  }
  const int64_t blocks = CheckedElementCount(b.counts), size = CheckedElementCount(b.block);
  if (x.shape()[2] != blocks || x.shape()[1] % size != 0) {
    context.Refuse(fmt::format("{} does not hold {} blocks of {}", ToString(x.dtype(), x.shape()),
                               blocks, size));
  }
  return b;
}

/// Which elements of which blocks an element of the image adds up, along one axis, by phases
/// (phases.h): only every `period`-th element k of a block can lie in a phase.
class OverlapAlongAxis {
 public:
  OverlapAlongAxis(const BlockSums& b, const Phases& phases, size_t d)
      : block_(b.block[d]),
        stride_(b.strides[d]),
        dilation_(b.dilations[d]),
        count_(b.counts[d]),
        first_(phases.first[d]),
        common_(std::gcd(stride_, dilation_)),
        period_(stride_ / common_) {
    while (inverse_ < period_ && inverse_ * (dilation_ / common_) % period_ != 1) ++inverse_;
  }

  /// How many elements of blocks may lie at one place.
  int64_t terms() const { return (block_ + period_ - 1) / period_; }

  /// The element and the block of a term of position `q` of a phase, and whether there is one.
  struct Term {
    Expr element, number, exists;
  };
  Term At(const Expr& phase, const Expr& q, const Expr& term) const {
    const Expr number = q + Expr(first_) - term * Expr(dilation_ / common_);
    Term t{phase + term * Expr(period_), number, tensor::BoolLiteral(true)};
    if (dilation_ > 1) {
      const Expr common(common_);
      const Expr first =
          tensor::FloorMod(tensor::FloorDiv(phase, common) * Expr(inverse_), Expr(period_));
      t.element = first + term * Expr(period_);
      t.number = number + tensor::FloorDiv(phase - first * Expr(dilation_), Expr(stride_));
      if (common_ > 1) t.exists = tensor::Equal(tensor::FloorMod(phase, common), 0);
    }
    if (block_ % period_ != 0) t.exists = t.exists && t.element < Expr(block_);
    t.exists = t.exists && Expr(0) <= t.number && t.number < Expr(count_);
    return t;
  }

 private:
  int64_t block_, stride_, dilation_, count_, first_;
  int64_t common_, period_;
  int64_t inverse_ = 1;  ///< of dilation / common, modulo the period
};

/// The sums [batch, channels, phases..., counts...].
tensor::Tensor SumsOfPhases(OperatorContext& context, const tensor::Tensor& blocks,
                            const BlockSums& b, const Phases& phases) {
  const size_t axes = phases.rank();
  std::vector<int64_t> shape = {blocks.shape()[0], blocks.shape()[1]};
  shape.insert(shape.end(), phases.strides.begin(), phases.strides.end());
  shape.insert(shape.end(), phases.counts.begin(), phases.counts.end());
  std::vector<OverlapAlongAxis> overlaps;
  std::vector<GraphBuilder::Axis> over;
  for (size_t d = 0; d < axes; ++d) {
    overlaps.emplace_back(b, phases, d);
    over.push_back({fmt::format("k{}", d), overlaps[d].terms()});
  }
  return context.builder().Reduce(
      "col2im", shape, over, tensor::Reduction::kSum, [&](const Exprs& s, const Exprs& r) {
        Exprs place = {s[0], s[1]}, numbers;
        Expr exists = tensor::BoolLiteral(true);
        for (size_t d = 0; d < axes; ++d) {
          const OverlapAlongAxis::Term term = overlaps[d].At(s[2 + d], s[2 + axes + d], r[d]);
          exists = exists && term.exists;
          place.push_back(term.element);
          numbers.push_back(term.number);
        }
        place.insert(place.end(), numbers.begin(), numbers.end());
        return tensor::Select(exists, blocks.At(place), LiteralLike(0, blocks.At(place)));
      });
}

void Col2Im(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const BlockSums b = ReadBlockSums(context, x);
  const int64_t batch = x.shape()[0], channels = x.shape()[1] / CheckedElementCount(b.block);
  std::vector<int64_t> columns = {batch, channels};
  columns.insert(columns.end(), b.block.begin(), b.block.end());
  columns.insert(columns.end(), b.counts.begin(), b.counts.end());
  const Phases phases(b.strides, b.pads, b.image);
  const tensor::Tensor sums = SumsOfPhases(context, context.builder().View(x, columns), b, phases);
  std::vector<int64_t> apart = {batch, channels * CheckedElementCount(phases.strides)};
  apart.insert(apart.end(), phases.counts.begin(), phases.counts.end());
  context.SetOutput(0,
                    SideBySide(context, context.builder().View(sums, apart), phases, channels, 1));
}

/// The shape that windows at every stride cover, or the one that is asked for.
std::vector<int64_t> UnpooledShape(OperatorContext& context, const tensor::Tensor& x,
                                   const std::vector<int64_t>& kernel) {
  const size_t axes = kernel.size();
  const std::vector<int64_t> strides = NumbersPerAxis(context, "strides", axes, 1, 1);
  const std::vector<int64_t> pads = NumbersPerAxis(context, "pads", 2 * axes, 0, 0);
  std::vector<int64_t> shape = {x.shape()[0], x.shape()[1]};
  for (size_t d = 0; d < axes; ++d) {
    CheckExtent(context, kernel[d]);
    CheckExtent(context, x.shape()[d + 2]);
    shape.push_back((x.shape()[d + 2] - 1) * strides[d] - pads[d] - pads[axes + d] + kernel[d]);
  }
  if (context.HasInput(2)) {
    const std::vector<int64_t> wanted = context.LengthsInput(2);
    const bool fits =
        wanted.size() == shape.size() && wanted[0] == shape[0] && wanted[1] == shape[1];
    if (!fits) context.Refuse("output_shape does not fit the input");
    shape = wanted;
  }
  for (size_t d = 2; d < shape.size(); ++d) CheckExtent(context, shape[d]);
  return shape;
}

/// The inverse of MaxPool: the indices count the elements of the whole output.
void MaxUnpool(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1);
  const std::vector<int64_t> kernel = context.Ints("kernel_shape");
  const size_t axes = kernel.size();
  if (axes < 1 || Rank(x) != static_cast<int>(axes) + 2 || indices.shape() != x.shape()) {
    context.Refuse("input, indices and kernel_shape do not fit together");
  }
  const std::vector<int64_t> shape = UnpooledShape(context, x, kernel);
  const int64_t count = CheckedElementCount(shape), given = CheckedElementCount(x.shape());
  GraphBuilder& b = context.builder();
  const tensor::Tensor empty =
      b.Map("zeros", {count}, [&](const Exprs&) { return tensor::Literal(0, x.dtype()); });
  const tensor::Tensor flat = ApplyOperator(context, "ScatterElements",
                                            {empty, b.View(indices, {given}), b.View(x, {given})},
                                            {{{"axis", int64_t{0}}}});
  context.SetOutput(0, b.View(flat, shape));
}

/// Each axis cut or padded to an extent, evenly on both sides; the odd element goes to the end.
void CenterCropPad(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int64_t> wanted = context.IntsInput(1);
  std::vector<int64_t> axes = context.Ints("axes");
  if (!context.HasAttribute("axes")) {
    for (int d = 0; d < Rank(x); ++d) axes.push_back(d);
  }
  context.CheckAxes(axes, Rank(x));
  if (axes.size() != wanted.size()) context.Refuse("shape needs one number per axis");
  std::vector<int64_t> low(Rank(x), 0), high(Rank(x), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    const int d = context.CheckAxis(axes[k], Rank(x));
    if (wanted[k] < 0) context.Refuse(fmt::format("an extent of {}", wanted[k]));
    const int64_t missing = wanted[k] - x.shape()[d];
    low[d] = missing / 2;
    high[d] = missing - low[d];
  }
  context.SetOutput(0, PadWith(context, x, low, high, tensor::Literal(0, x.dtype())));
}

}  // namespace

std::span<const Operator> PlacementOperators() {
  static const Operator operators[] = {
      {"CenterCropPad", CenterCropPad},
      {"Col2Im", Col2Im},
      {"MaxUnpool", MaxUnpool},
  };
  return operators;
}

}  // namespace bayloom::graph
