// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"
#include "bayloom/target/mma_instruction.h"
#include "bayloom/target/wgmma_instruction.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/warp_matrices.h"

namespace bayloom::sketch {
namespace {

using target::MmaInstruction;
using target::WgmmaInstruction;

/// A thread has 255 registers, some for operands and addresses.
constexpr int64_t kMaxWarpAccumulators = 128;

/// A product may have this many times its iterations when it is padded: tensor cores multiply eight
/// times as fast or more.
constexpr double kMaxPadding = 4;
/// The same for groups of warps, beside products by warps.
constexpr double kMaxGroupPadding = 1.5;
/// Columns that a group's tiles are multiples of: a panel's row of elements of 16 bits.
constexpr int64_t kGroupColumns = 64;
/// What is added to a number of matrices so that it has more divisors.
constexpr double kMaxRounding = 1.125;

/// Of small tiles, which groups are done with soon, many stages are under way.
const std::vector<int64_t> kGroupStages = {1, 2, 3, 4, 6, 8};

/// The iterators of a product whose elements the instruction takes as matrices.
struct MatrixAxes {
  int rows = -1, columns = -1, depth = -1;
};

/// What tiles of a product are multiples of, and who computes them.
struct MatrixUnits {
  int64_t rows = MmaInstruction::kRows, columns = MmaInstruction::kColumns;
  int64_t depth = 0;        ///< of a step
  int64_t instruction = 0;  ///< depth of the instruction
  bool groups = false;      ///< of warps
  double max_padding = kMaxPadding;
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
             const MatrixUnits& units)
      : block_(block), product_(product), units_(units) {}

  /// The longest rows and columns, of either factor, of those that need the least padding.
  std::optional<MatrixAxes> Find() const {
    std::optional<MatrixAxes> best;
    double best_padding = units_.max_padding;
    int64_t best_size = 0;
    for (const bool swapped : {false, true}) {
      const tensor::Expr& rows = (swapped ? product_.b : product_.a).load;
      const tensor::Expr& columns = (swapped ? product_.a : product_.b).load;
      const int rows_inner = InnermostIter(block_, rows);
      const int columns_inner = InnermostIter(block_, columns);
      for (int depth = 0; depth < Count(); ++depth) {
        if (Kind(depth) != tensor::IterKind::kReduction) continue;
        if (!Mentions(rows, depth) || !Mentions(columns, depth)) continue;
        const int row = Longest(rows, columns, rows_inner == depth ? -1 : rows_inner, units_.rows);
        const int column =
            Longest(columns, rows, columns_inner == depth ? -1 : columns_inner, units_.columns);
        if (row < 0 || column < 0) continue;
        const double padding = Padding(row, units_.rows) * Padding(column, units_.columns) *
                               Padding(depth, units_.depth);
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
          (Padding(i, factor) == Padding(longest, factor) &&
           (Extent(i) > Extent(longest) || (units_.groups && Extent(i) == Extent(longest))));
      if (is_better) longest = i;
    }
    return longest;
  }

  const tensor::Block& block_;
  const tensor::DotProduct& product_;
  const MatrixUnits& units_;
};

TileConstraints LimitsForWarps(const tensor::Program& program, const tensor::Block& block,
                               const MatrixAxes& axes, const MatrixUnits& units,
                               const target::GpuLimits& gpu) {
  TileConstraints limits;
  limits.lanes = units.groups ? WgmmaInstruction::kThreads : MmaInstruction::kLanes;
  limits.lane_elements = units.rows * units.columns / limits.lanes;
  limits.min_threads = limits.lanes;
  limits.max_threads = gpu.max_threads;
  limits.max_elements = kMaxWarpAccumulators;
  limits.max_block_elements = gpu.multiprocessor_registers / 2;
  limits.max_shared_bytes = gpu.max_shared_bytes;
  limits.operands = FootprintsOf(program, block);
  for (StagedOperand& operand : limits.operands) {
    operand.padded = !units.groups;
    for (const StagedOperand::Term& term : operand.dimensions.back().terms) {
      operand.along_depth |= static_cast<int>(term.axis) == axes.depth;
    }
  }
  return limits;
}

/// Loops of a product, by what they become, outermost first.
struct WarpLoops {
  std::vector<tensor::LoopVar> blocks, warps, matrices, stage_steps, steps;
  std::vector<tensor::LoopVar> columns;  ///< of a group: matrices that one instruction takes
  std::vector<tensor::LoopVar> lanes;    ///< of a warp or group: rows, then columns
  std::vector<tensor::LoopVar> parts;    ///< depth, then rows and columns of a thread
};

class WarpTiler {
 public:
  WarpTiler(tensor::Schedule& schedule, TileConstraints& limits)
      : schedule_(schedule), limits_(limits) {}

  /// `parts_of_sum`: GpuSketch::PartsOfSum.
  Result<WarpLoops> Split(const tensor::Block& block, const std::vector<tensor::LoopVar>& loops,
                          const MatrixAxes& axes, const MatrixUnits& units, int parts_of_sum) {
    WarpLoops made;
    std::vector<tensor::LoopVar> row, column, depth;
    for (size_t i = 0; i < loops.size(); ++i) {
      const int iter = static_cast<int>(i);
      if (iter == parts_of_sum) {
        limits_.axes.push_back({.kind = TiledAxis::Kind::kOverBlocks});
        made.blocks.push_back(loops[i]);
        continue;
      }
      std::vector<int64_t> fixed;
      std::vector<tensor::LoopVar>* inner = nullptr;
      if (iter == axes.rows) {
        fixed = {MmaInstruction::kRowParts, MmaInstruction::kLaneRows};
        if (units.groups) fixed.insert(fixed.begin(), WgmmaInstruction::kWarps);
        inner = &row;
      } else if (iter == axes.columns) {
        fixed = {MmaInstruction::kLaneColumns, MmaInstruction::kColumnParts};
        if (units.groups) fixed.insert(fixed.begin(), units.columns / MmaInstruction::kColumns);
        inner = &column;
      } else if (iter == axes.depth) {
        fixed = {units.instruction};
        if (units.groups) fixed.insert(fixed.begin(), units.depth / units.instruction);
        inner = &depth;
      }
      const bool spatial = block.iters[i].kind == tensor::IterKind::kSpatial;
      Result<tensor::LoopVar> outer = CutOff(loops[i], fixed, inner);
      if (!outer) return outer.error();
      std::vector<tensor::LoopVar>& matrices =
          units.groups && iter == axes.columns ? made.columns : made.matrices;
      if (Status s = Sample(*outer, block.iters[i].extent, fixed, spatial, made, matrices); !s) {
        return s.error();
      }
    }
    if (units.groups) {
      made.lanes.push_back(TakeFirst(row));
      made.columns.push_back(TakeFirst(column));
      made.steps.push_back(TakeFirst(depth));
    }
    made.lanes.insert(made.lanes.end(), {row[1], column[0]});
    made.parts = {depth[0], row[0], column[1]};
    return made;
  }

 private:
  static tensor::LoopVar TakeFirst(std::vector<tensor::LoopVar>& loops) {
    const tensor::LoopVar first = loops.front();
    loops.erase(loops.begin());
    return first;
  }

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
                bool spatial, WarpLoops& made, std::vector<tensor::LoopVar>& matrices) {
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
      matrices.push_back((*parts)[2]);
    } else {
      made.stage_steps.push_back((*parts)[0]);
      made.steps.push_back((*parts)[1]);
    }
    return Ok();
  }

  tensor::Schedule& schedule_;
  TileConstraints& limits_;
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
           const MatrixUnits& units, MatrixPadding padding) {
  std::vector<int64_t> extents;
  for (const tensor::Iter& iter : schedule.program().blocks[schedule.Get(block)].iters) {
    extents.push_back(iter.extent);
  }
  const std::vector<int64_t> before = extents;
  const auto pad = [&](int iter, int64_t unit) {
    int64_t& extent = extents[static_cast<size_t>(iter)];
    extent = PaddedExtent(extent, unit, padding);
  };
  pad(axes.rows, units.rows);
  pad(axes.columns, units.columns);
  pad(axes.depth, units.depth);
  if (extents == before) return Ok();
  Result<std::vector<tensor::BlockVar>> copies = schedule.PadProduct(block, extents);
  if (!copies) return copies.error();
  for (const tensor::BlockVar copy : *copies) InlineProducer(schedule, copy);
  return Ok();
}

Result<GpuSketch> TileMatrices(GpuSketch sketch, tensor::BlockVar block, const MatrixAxes& axes,
                               const MatrixUnits& units, const target::GpuLimits& gpu,
                               MatrixPadding padding) {
  tensor::Schedule& schedule = sketch.schedule;
  const int parts_of_sum = sketch.PartsOfSum(schedule.program().blocks[schedule.Get(block)].name);
  Result<tensor::BlockVar> epilogue = EpilogueOf(schedule, block);
  if (!epilogue) return epilogue.error();
  if (Status s = Pad(schedule, block, axes, units, padding); !s) return s.error();
  const tensor::Block before = schedule.program().blocks[schedule.Get(block)];
  TileConstraints limits = LimitsForWarps(schedule.program(), before, axes, units, gpu);
  Result<std::vector<tensor::BlockVar>> stages = StageOperands(schedule, block);
  if (!stages) return stages.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(block);
  if (!loops) return loops.error();
  Result<WarpLoops> made =
      WarpTiler(schedule, limits).Split(before, *loops, axes, units, parts_of_sum);
  if (!made) return made.error();
  std::vector<tensor::LoopVar> order;
  for (const auto* level : {&made->blocks, &made->warps, &made->lanes, &made->stage_steps,
                            &made->steps, &made->matrices, &made->columns, &made->parts}) {
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
  Result<StageCount> count = units.groups
                                 ? PlaceStages(schedule, *stages, made->stage_steps, kGroupStages)
                                 : PlaceStages(schedule, *stages, made->stage_steps);
  if (!count) return count.error();
  limits.stages = *std::move(count);
  if (Status s = schedule.Tensorize(made->parts.front()); !s) return s.error();
  if (units.groups) {
    if (Status s = schedule.Annotate(block, tensor::kWarpGroups, 1); !s) return s.error();
  }
  sketch.limits.push_back(std::move(limits));
  return sketch;
}

/// SwizzledTiles hold rows as they are: each dimension of the operands is one iterator, in steps of
/// one, the last two are those of the matrix, and rows run along the depth where they must.
bool LieInPanels(const tensor::Program& program, const tensor::Block& block, const MatrixAxes& axes,
                 const WgmmaInstruction& instruction, int parts_of_sum) {
  for (const StagedOperand& operand : FootprintsOf(program, block)) {
    std::vector<size_t> moving_axes;
    for (const StagedOperand::Dimension& dimension : operand.dimensions) {
      const size_t before = moving_axes.size();
      for (const StagedOperand::Term& term : dimension.terms) {
        const bool is_over_blocks = static_cast<int>(term.axis) == parts_of_sum;
        if (block.iters[term.axis].extent == 1 || is_over_blocks) continue;
        moving_axes.push_back(term.axis);
        if (term.stride != 1) return false;
      }
      if (moving_axes.size() > before + 1) return false;
    }
    const auto is_of_matrix = [&](size_t axis) {
      const auto iter = static_cast<int>(axis);
      return iter == axes.rows || iter == axes.columns || iter == axes.depth;
    };
    if (moving_axes.size() < 2 || !is_of_matrix(moving_axes.back()) ||
        !is_of_matrix(moving_axes[moving_axes.size() - 2])) {
      return false;
    }
    const auto is_depth = [&](const StagedOperand::Term& term) {
      return static_cast<int>(term.axis) == axes.depth;
    };
    if (instruction.along_depth_only &&
        std::ranges::none_of(operand.dimensions.back().terms, is_depth)) {
      return false;
    }
  }
  return true;
}

struct TensorProduct {
  tensor::DotProduct product;
  std::string a, b;  ///< types of the factors' elements
};

Result<TensorProduct> ProductOf(const tensor::Block& block) {
  const std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(block);
  if (!product || !product->IsPlain()) {
    return Error{block.name + " is no sum of products of narrow elements"};
  }
  if (product->a.condition.defined() || product->b.condition.defined()) {
    return Error{block.name + " reads padding that is not stored"};
  }
  return TensorProduct{*product, tensor::ToString(product->a.dtype()),
                       tensor::ToString(product->b.dtype())};
}

/// On a copy, so that the sketch stays what it is where something is refused.
Status Tile(GpuSketch& sketch, const std::string& name, const MatrixAxes& axes,
            const MatrixUnits& units, const target::GpuLimits& limits, MatrixPadding padding) {
  GpuSketch copy = sketch;
  Result<tensor::BlockVar> variable = copy.schedule.GetBlock(name);
  if (!variable) return variable.error();
  Result<GpuSketch> tiled = TileMatrices(std::move(copy), *variable, axes, units, limits, padding);
  if (!tiled) return tiled.error();
  sketch = *std::move(tiled);
  return Ok();
}

constexpr char kNoInstruction[] = "there is no instruction for these elements";
constexpr char kTooMuchPadding[] = "too much of what the instruction takes would be padding";

}  // namespace

Status TileForWarps(GpuSketch& sketch, const std::string& name, const target::GpuLimits& limits,
                    MatrixPadding padding) {
  const tensor::Program& program = sketch.schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  const Result<TensorProduct> found = ProductOf(block);
  if (!found) return found.error();
  const MmaInstruction* instruction = target::WarpInstructionFor(limits, found->a, found->b);
  if (instruction == nullptr) return Error{kNoInstruction};
  const MatrixUnits units{.depth = instruction->depth, .instruction = instruction->depth};
  const auto axes = AxisFinder(block, found->product, units).Find();
  if (!axes) return Error{kTooMuchPadding};
  return Tile(sketch, name, *axes, units, limits, padding);
}

Status TileForWarpGroups(GpuSketch& sketch, const std::string& name,
                         const target::GpuLimits& limits) {
  const tensor::Program& program = sketch.schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  const Result<TensorProduct> found = ProductOf(block);
  if (!found) return found.error();
  const WgmmaInstruction* instruction = target::WarpGroupInstructionFor(limits, found->a, found->b);
  if (instruction == nullptr) return Error{kNoInstruction};
  const int64_t bytes = tensor::ByteSize(found->product.a.dtype());
  const MatrixUnits units{.rows = WgmmaInstruction::kRows,
                          .columns = kGroupColumns,
                          .depth = target::kPanelRowBytes / bytes,
                          .instruction = instruction->depth,
                          .groups = true,
                          .max_padding = kMaxGroupPadding};
  const auto axes = AxisFinder(block, found->product, units).Find();
  if (!axes) return Error{kTooMuchPadding};
  if (!LieInPanels(program, block, *axes, *instruction, sketch.PartsOfSum(name))) {
    return Error{name + " does not read its operands as they lie"};
  }
  return Tile(sketch, name, *axes, units, limits, MatrixPadding::kLeast);
}

}  // namespace bayloom::sketch
