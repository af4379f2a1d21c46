// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/internal/gpu/gpu_rules.h"
#include "bayloom/sketch/internal/tile_levels.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/target/warp_instruction.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::sketch {
namespace {

using target::WarpInstruction;

/// A thread has 255 registers, some for operands and addresses.
constexpr int64_t kMaxWarpAccumulators = 128;

/// A product may have this many times its iterations when it is padded: tensor cores multiply eight
/// times as fast or more.
constexpr double kMaxPadding = 4;
/// What is added to a number of matrices so that it has more divisors.
constexpr double kMaxRounding = 1.125;

/// The iterators of a product whose elements the instruction takes as matrices.
struct MatrixAxes {
  int rows = -1, columns = -1, depth = -1;
};

int64_t NextMultiple(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// The extent, or the next that is a multiple of what the instruction takes; rounded, the one after
/// that whose number of matrices is a multiple of 2, 4 or 8, if that is not much larger.
int64_t PaddedExtent(int64_t extent, int64_t unit, MatrixPadding padding) {
  const int64_t matrices = NextMultiple(extent, unit) / unit;
  if (padding == MatrixPadding::kRounded) {
    for (const int64_t factor : {8, 4, 2}) {
      const int64_t rounded = NextMultiple(matrices, factor);
      if (static_cast<double>(rounded) <= kMaxRounding * static_cast<double>(matrices)) {
        return rounded * unit;
      }
    }
  }
  return matrices * unit;
}

/// The iterator along which a factor's elements are next to each other; -1 if it is none alone.
int InnermostIter(const tensor::Block& block, const tensor::Expr& load) {
  const auto form = tensor::ToLinear(load->operands.back(), static_cast<int>(block.iters.size()));
  int iter = -1;
  for (size_t i = 0; form && i < form->coefficients.size(); ++i) {
    if (form->coefficients[i] == 0) continue;
    if (iter >= 0 || form->coefficients[i] != 1) return -1;
    iter = static_cast<int>(i);
  }
  return iter;
}

class AxisFinder {
 public:
  AxisFinder(const tensor::Block& block, const tensor::DotProduct& product,
             const WarpInstruction& instruction)
      : block_(block), product_(product), instruction_(instruction) {}

  /// The longest rows and columns, of either factor, of those that need the least padding.
  std::optional<MatrixAxes> Find() const {
    std::optional<MatrixAxes> best;
    double best_padding = kMaxPadding;
    int64_t best_size = 0;
    for (const bool swapped : {false, true}) {
      const tensor::Expr& rows = (swapped ? product_.b : product_.a).load;
      const tensor::Expr& columns = (swapped ? product_.a : product_.b).load;
      const int rows_inner = InnermostIter(block_, rows);
      const int columns_inner = InnermostIter(block_, columns);
      for (int depth = 0; depth < Count(); ++depth) {
        if (Kind(depth) != tensor::IterKind::kReduction) continue;
        if (!Mentions(rows, depth) || !Mentions(columns, depth)) continue;
        const int row =
            Longest(rows, columns, rows_inner == depth ? -1 : rows_inner, WarpInstruction::kRows);
        const int column = Longest(columns, rows, columns_inner == depth ? -1 : columns_inner,
                                   WarpInstruction::kColumns);
        if (row < 0 || column < 0) continue;
        const double padding = Padding(row, WarpInstruction::kRows) *
                               Padding(column, WarpInstruction::kColumns) *
                               Padding(depth, instruction_.depth);
        const int64_t size = Extent(row) * Extent(column) * Extent(depth);
        if (padding > best_padding || (padding == best_padding && size <= best_size)) continue;
        best = MatrixAxes{row, column, depth};
        best_padding = padding;
        best_size = size;
      }
    }
    return best;
  }

 private:
  int Count() const { return static_cast<int>(block_.iters.size()); }
  int64_t Extent(int iter) const { return block_.iters[static_cast<size_t>(iter)].extent; }
  tensor::IterKind Kind(int iter) const { return block_.iters[static_cast<size_t>(iter)].kind; }
  /// Iterations that the instruction makes of one.
  double Padding(int iter, int64_t unit) const {
    const int64_t padded = PaddedExtent(Extent(iter), unit, MatrixPadding::kLeast);
    return static_cast<double>(padded) / static_cast<double>(Extent(iter));
  }

  /// A spatial iterator of one factor and not of the other, the one named unless that is -1.
  int Longest(const tensor::Expr& own, const tensor::Expr& other, int only, int64_t factor) const {
    int longest = -1;
    for (int i = 0; i < Count(); ++i) {
      if (only >= 0 && i != only) continue;
      if (Kind(i) != tensor::IterKind::kSpatial || !Mentions(own, i) || Mentions(other, i))
        continue;
      const bool is_better =
          longest < 0 || Padding(i, factor) < Padding(longest, factor) ||
          (Padding(i, factor) == Padding(longest, factor) && Extent(i) > Extent(longest));
      if (is_better) longest = i;
    }
    return longest;
  }

  const tensor::Block& block_;
  const tensor::DotProduct& product_;
  const WarpInstruction& instruction_;
};

TileLimits LimitsForWarps(const tensor::Program& program, const tensor::Block& block,
                          const MatrixAxes& axes, const target::GpuLimits& gpu) {
  TileLimits limits;
  limits.lanes = WarpInstruction::kLanes;
  limits.lane_elements = WarpInstruction::kRowParts * WarpInstruction::kColumnParts;
  limits.min_threads = WarpInstruction::kLanes;
  limits.max_threads = gpu.max_threads;
  limits.max_elements = kMaxWarpAccumulators;
  limits.max_block_elements = gpu.multiprocessor_registers / 2;
  limits.max_shared_bytes = gpu.max_shared_bytes;
  limits.operands = FootprintsOf(program, block);
  for (StagedOperand& operand : limits.operands) {
    operand.padded = true;
    for (const StagedOperand::Term& term : operand.dimensions.back().terms) {
      operand.along_depth |= static_cast<int>(term.axis) == axes.depth;
    }
  }
  return limits;
}

/// Loops of a product, by what they become, outermost first.
struct WarpLoops {
  std::vector<tensor::LoopVar> blocks, warps, matrices, stage_steps, steps;
  std::vector<tensor::LoopVar> lanes;  ///< of a warp: rows, then columns
  std::vector<tensor::LoopVar> parts;  ///< depth, then rows and columns of a thread
};

class WarpTiler {
 public:
  WarpTiler(tensor::Schedule& schedule, TileLimits& limits)
      : schedule_(schedule), limits_(limits) {}

  Result<WarpLoops> Split(const tensor::Block& block, const std::vector<tensor::LoopVar>& loops,
                          const MatrixAxes& axes, const WarpInstruction& instruction) {
    WarpLoops made;
    std::vector<tensor::LoopVar> row, column, depth;
    for (size_t i = 0; i < loops.size(); ++i) {
      const int iter = static_cast<int>(i);
      std::vector<int64_t> fixed;
      std::vector<tensor::LoopVar>* inner = nullptr;
      if (iter == axes.rows) {
        fixed = {WarpInstruction::kRowParts, WarpInstruction::kLaneRows};
        inner = &row;
      } else if (iter == axes.columns) {
        fixed = {WarpInstruction::kLaneColumns, WarpInstruction::kColumnParts};
        inner = &column;
      } else if (iter == axes.depth) {
        fixed = {instruction.depth};
        inner = &depth;
      }
      const bool spatial = block.iters[i].kind == tensor::IterKind::kSpatial;
      Result<tensor::LoopVar> outer = CutOff(loops[i], fixed, inner);
      if (!outer) return outer.error();
      if (Status s = Sample(*outer, block.iters[i].extent, fixed, spatial, made); !s) {
        return s.error();
      }
    }
    made.lanes = {row[1], column[0]};
    made.parts = {depth[0], row[0], column[1]};
    return made;
  }

 private:
  /// The loop outside of these fixed factors, which become loops of their own.
  Result<tensor::LoopVar> CutOff(tensor::LoopVar loop, const std::vector<int64_t>& fixed,
                                 std::vector<tensor::LoopVar>* inner) {
    if (fixed.empty()) return loop;
    std::vector<int64_t> factors = {-1};
    factors.insert(factors.end(), fixed.begin(), fixed.end());
    Result<std::vector<tensor::LoopVar>> parts = schedule_.Split(loop, factors);
    if (!parts) return parts.error();
    inner->assign(parts->begin() + 1, parts->end());
    return parts->front();
  }

  Status Sample(tensor::LoopVar loop, int64_t extent, const std::vector<int64_t>& fixed,
                bool spatial, WarpLoops& made) {
    TiledAxis axis;
    for (const int64_t factor : fixed) axis.unit *= factor;
    axis.step = static_cast<int>(schedule_.trace().instructions().size());
    axis.extent = extent / axis.unit;
    axis.kind = spatial ? TiledAxis::Kind::kWarps : TiledAxis::Kind::kReduction;
    Result<std::vector<tensor::LoopVar>> parts =
        TilePerfectly(schedule_, loop, axis.parts(), kMaxInnermostFactor);
    if (!parts) return parts.error();
    limits_.axes.push_back(axis);
    if (spatial) {
      made.blocks.push_back((*parts)[0]);
      made.warps.push_back((*parts)[1]);
      made.matrices.push_back((*parts)[2]);
    } else {
      made.stage_steps.push_back((*parts)[0]);
      made.steps.push_back((*parts)[1]);
    }
    return Ok();
  }

  tensor::Schedule& schedule_;
  TileLimits& limits_;
};

/// What fills a buffer that only the copy reads becomes part of the copy (padding of convolutions).
void InlineProducer(tensor::Schedule& schedule, tensor::BlockVar copy) {
  const tensor::Program& program = schedule.program();
  for (const tensor::Access& access : tensor::AccessesOf(program, schedule.Get(copy))) {
    const tensor::BlockId writer = access.is_write ? -1 : program.WriterOf(access.buffer);
    if (writer < 0 || program.ReadersOf(access.buffer).size() != 1) continue;
    if (program.blocks[writer].kind != tensor::BlockKind::kPlain) continue;
    Result<tensor::BlockVar> producer = schedule.GetBlock(program.blocks[writer].name);
    if (producer) (void)schedule.ComputeInline(*producer);
    return;
  }
}

/// Gives the product whole matrices to multiply.
Status Pad(tensor::Schedule& schedule, tensor::BlockVar block, const MatrixAxes& axes,
           const WarpInstruction& instruction, MatrixPadding padding) {
  std::vector<int64_t> extents;
  for (const tensor::Iter& iter : schedule.program().blocks[schedule.Get(block)].iters) {
    extents.push_back(iter.extent);
  }
  const std::vector<int64_t> before = extents;
  const auto pad = [&](int iter, int64_t unit) {
    int64_t& extent = extents[static_cast<size_t>(iter)];
    extent = PaddedExtent(extent, unit, padding);
  };
  pad(axes.rows, WarpInstruction::kRows);
  pad(axes.columns, WarpInstruction::kColumns);
  pad(axes.depth, instruction.depth);
  if (extents == before) return Ok();
  Result<std::vector<tensor::BlockVar>> copies = schedule.PadProduct(block, extents);
  if (!copies) return copies.error();
  for (const tensor::BlockVar copy : *copies) InlineProducer(schedule, copy);
  return Ok();
}

Result<GpuSketch> TileMatrices(GpuSketch sketch, tensor::BlockVar block, const MatrixAxes& axes,
                               const WarpInstruction& instruction, const target::GpuLimits& gpu,
                               MatrixPadding padding) {
  tensor::Schedule& schedule = sketch.schedule;
  Result<tensor::BlockVar> epilogue = EpilogueOf(schedule, block);
  if (!epilogue) return epilogue.error();
  if (Status s = Pad(schedule, block, axes, instruction, padding); !s) return s.error();
  const tensor::Block before = schedule.program().blocks[schedule.Get(block)];
  TileLimits limits = LimitsForWarps(schedule.program(), before, axes, gpu);
  Result<std::vector<tensor::BlockVar>> stages = StageOperands(schedule, block);
  if (!stages) return stages.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(block);
  if (!loops) return loops.error();
  Result<WarpLoops> made = WarpTiler(schedule, limits).Split(before, *loops, axes, instruction);
  if (!made) return made.error();
  std::vector<tensor::LoopVar> order;
  for (const auto* level : {&made->blocks, &made->warps, &made->lanes, &made->stage_steps,
                            &made->steps, &made->matrices, &made->parts}) {
    order.insert(order.end(), level->begin(), level->end());
  }
  if (Status s = schedule.Reorder(order); !s) return s.error();
  Result<tensor::LoopVar> grid = FuseAll(schedule, made->blocks);
  if (!grid) return grid.error();
  std::vector<tensor::LoopVar> threads = made->warps;
  threads.insert(threads.end(), made->lanes.begin(), made->lanes.end());
  Result<tensor::LoopVar> team = FuseAll(schedule, threads);
  if (!team) return team.error();
  if (Status s = schedule.Bind(*grid, tensor::LoopKind::kBlockX); !s) return s.error();
  if (Status s = schedule.Bind(*team, tensor::LoopKind::kThreadX); !s) return s.error();
  if (Status s = schedule.ReverseComputeAt(*epilogue, *team); !s) return s.error();
  Result<StageCount> count = PlaceStages(schedule, *stages, made->stage_steps);
  if (!count) return count.error();
  limits.stages = *std::move(count);
  if (Status s = schedule.Tensorize(made->parts.front()); !s) return s.error();
  sketch.limits.push_back(std::move(limits));
  return sketch;
}

}  // namespace

Status TileForWarps(GpuSketch& sketch, const std::string& name, const target::GpuLimits& limits,
                    MatrixPadding padding) {
  const tensor::Program& program = sketch.schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  const std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(block);
  if (!product) return Error{name + " is no sum of products of narrow elements"};
  if (product->a.condition.defined() || product->b.condition.defined()) {
    return Error{name + " reads padding that is not stored"};
  }
  const WarpInstruction* instruction = target::WarpInstructionFor(
      limits, tensor::ToString(product->a.dtype()), tensor::ToString(product->b.dtype()));
  if (instruction == nullptr) return Error{"there is no instruction for these elements"};
  const auto axes = AxisFinder(block, *product, *instruction).Find();
  if (!axes) return Error{"too much of what the instruction takes would be padding"};
  GpuSketch copy = sketch;
  Result<tensor::BlockVar> variable = copy.schedule.GetBlock(name);
  if (!variable) return variable.error();
  Result<GpuSketch> tiled =
      TileMatrices(std::move(copy), *variable, *axes, *instruction, limits, padding);
  if (!tiled) return tiled.error();
  sketch = *std::move(tiled);
  return Ok();
}

}  // namespace bayloom::sketch
