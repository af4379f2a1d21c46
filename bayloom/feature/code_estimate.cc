// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/code_estimate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "bayloom/feature/internal/cache_lines.h"
#include "bayloom/feature/internal/call_time.h"
#include "bayloom/feature/internal/dot_work.h"
#include "bayloom/feature/internal/register_nest.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::feature {
namespace {

// What cannot be measured in isolation, in vector multiply-adds; judged by the programs of
// benchmarks/zero_trials.
constexpr double kScalarOperation = 0.5;
constexpr double kLoopStep = 0.6;         ///< of a loop that is not unrolled
constexpr double kStridedElement = 1.3;   ///< of a register that is gathered or scattered
constexpr double kIntegerRegisters = 12;  ///< that are left for values
constexpr double kMaxInFlight = 8;        ///< multiply-adds, as codegen reckons
constexpr int64_t kLineBytes = 64;

constexpr double kGuard = 0.3;     ///< of an element that may lie in the padding
constexpr double kUnhidden = 0.2;  ///< part of the loads that shows beside arithmetic

/// Arithmetic and loads that are carried out at the same time.
double Together(double arithmetic, double loads) {
  return std::max(arithmetic, loads) + kUnhidden * std::min(arithmetic, loads);
}

/// Which of a nest's loops something changes with.
using LoopMask = uint64_t;
constexpr LoopMask kVector = 1;
constexpr LoopMask kReductionMask = 2;
constexpr int kFirstTile = 2;

/// An operation of a block's value: what it costs and what it changes with.
struct Operation {
  LoopMask mask = 0;
  double cost = 0;
  bool is_load = false;
};

/// The machine's costs in seconds.
struct Costs {
  double multiply_add, load, division, transcendental, in_flight;

  explicit Costs(const target::MachineModel& machine)
      : multiply_add(machine.multiply_add.alone),
        load(machine.vector_load),
        division(machine.division),
        transcendental(machine.transcendental),
        in_flight(
            std::min(machine.multiply_add_latency, kMaxInFlight * machine.multiply_add.alone)) {}
};

/// Lists the operations of a block's value.
class OperationList {
 public:
  OperationList(const tensor::Program& program, const tensor::Block& block,
                const RegisterNest& nest, const Costs& costs, const std::optional<DotWork>& dot)
      : program_(program), block_(block), nest_(nest), costs_(costs), dot_(dot) {
    for (const tensor::Affine& binding : block.bindings) masks_.push_back(MaskOf(binding));
  }

  std::vector<Operation> Take(const tensor::Expr& value) {
    if (dot_) {
      TakeFactors(*tensor::MatchDotProduct(block_));
      return std::move(operations_);
    }
    // A product of floats that is summed is part of the multiply-add.
    const bool fused = nest_.is_reduction && value->op == tensor::ExprOp::kMul &&
                       block_.reduction == tensor::Reduction::kSum && tensor::IsFloat(value->dtype);
    if (fused) {
      for (const tensor::Expr& operand : value->operands) Add(operand);
    } else {
      Add(value);
    }
    return std::move(operations_);
  }

  /// Cost of a register's elements at the place, which the vectorized loop strides over or not.
  double MemoryCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                    LoopMask mask) const {
    if ((mask & kVector) == 0 && nest_.at_once == 1) return kScalarOperation * costs_.multiply_add;
    const std::optional<tensor::Affine> offset = OffsetOf(indices, buffer);
    const int64_t at_once = offset ? offset->CoefficientOf(nest_.at_once_digit) : 0;
    // Elements that are summed up at once and do not lie next to each other are put together.
    const double parts = at_once == 0 || at_once == 1 ? 1 : static_cast<double>(nest_.at_once);
    const double together = parts > 1 && dot_ ? dot_->pack * costs_.multiply_add : 0;
    if ((mask & kVector) == 0) return parts * kScalarOperation * costs_.multiply_add + together;
    const bool contiguous = offset && IsContiguous(*offset, at_once == 1 ? nest_.at_once : 1);
    if (contiguous) return together + parts * costs_.load * LinesOf(*offset, buffer);
    const double strided = kStridedElement * std::min(nest_.width, nest_.lanes);
    return together + parts * strided * costs_.multiply_add;
  }

  /// The same for loads, which a loop around may help: where it runs along memory, as many of its
  /// steps as there are lanes are loaded together and transposed in registers.
  double LoadCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                  LoopMask mask) const {
    const double alone = MemoryCost(indices, buffer, mask);
    if ((mask & kVector) == 0 || nest_.is_reduction || nest_.across < 0) return alone;
    const std::optional<tensor::Affine> offset = OffsetOf(indices, buffer);
    if (!offset || offset->CoefficientOf(nest_.across) != 1 || IsContiguous(*offset, 1)) {
      return alone;
    }
    return std::min(alone,
                    costs_.load + std::log2(std::max(nest_.width, 2.0)) * costs_.multiply_add);
  }

  LoopMask MaskOf(const std::vector<tensor::Expr>& indices) const {
    LoopMask mask = 0;
    for (const tensor::Expr& index : indices) mask |= MaskOf(index);
    return mask;
  }

 private:
  /// The instruction takes elements as they are, or adapted.
  void TakeFactors(const tensor::DotProduct& product) {
    // What is shifted is the factor that is the same in all lanes, if there is one.
    const bool swapped = (MaskOf(product.a.load) & kVector) != 0;
    for (const tensor::DotFactor* factor : {&product.a, &product.b}) {
      const LoopMask mask = Add(factor->load).mask;
      const bool is_first = (factor == &product.a) != swapped;
      const double adapt = is_first ? dot_->adapt_first : dot_->adapt_second;
      if (adapt > 0) operations_.push_back({mask, adapt * costs_.multiply_add});
      if (factor->condition.defined()) operations_.push_back({0, kGuard * costs_.multiply_add});
    }
  }

  bool Contains(const std::vector<tensor::LoopId>& loops, tensor::DigitId digit) const {
    return std::ranges::any_of(loops, [&](tensor::LoopId loop) {
      return std::ranges::find(program_.loops[loop].digits, digit) !=
             program_.loops[loop].digits.end();
    });
  }

  LoopMask MaskOf(const tensor::Affine& affine) const {
    LoopMask mask = 0;
    for (const tensor::Affine::Term& term : affine.terms) {
      if (Contains(nest_.vectorized, term.digit)) mask |= kVector;
      if (Contains(nest_.reduction, term.digit)) mask |= kReductionMask;
      for (size_t i = 0; i < nest_.tile.size(); ++i) {
        if (Contains({nest_.tile[i].loop}, term.digit)) mask |= LoopMask{1} << (kFirstTile + i);
      }
    }
    return mask;
  }

  /// Blocks that are in no loop need not bind their iterators.
  LoopMask MaskOfIter(int iter) const {
    return iter < static_cast<int>(masks_.size()) ? masks_[iter] : 0;
  }

  LoopMask MaskOf(const tensor::Expr& e) const {
    if (e->op == tensor::ExprOp::kIter) return MaskOfIter(e->index);
    LoopMask mask = 0;
    for (const tensor::Expr& operand : e->operands) mask |= MaskOf(operand);
    return mask;
  }

  std::optional<tensor::Affine> OffsetOf(const std::vector<tensor::Expr>& indices,
                                         tensor::BufferId buffer) const {
    tensor::Access access{buffer, false, {}};
    for (const tensor::Expr& index : indices) {
      access.indices.push_back(tensor::ComposeIndex(index, block_.bindings));
    }
    return tensor::LinearOffset(program_, access, /*allocation=*/nullptr);
  }

  /// Cache lines that a register's elements lie in on average: more than one where the loops around
  /// move by other steps than whole registers.
  double LinesOf(const tensor::Affine& offset, tensor::BufferId buffer) const {
    const int64_t element = tensor::ByteSize(program_.buffers[buffer].dtype);
    const int64_t together =
        offset.CoefficientOf(nest_.at_once_digit) == 1 ? nest_.at_once * element : element;
    const int64_t bytes =
        std::min(static_cast<int64_t>(std::min(nest_.width, nest_.lanes)) * together, kLineBytes);
    bool aligned = offset.constant * element % bytes == 0;
    for (const tensor::Affine::Term& term : offset.terms) {
      if (program_.digit_extents[term.digit] == 1 || Contains(nest_.vectorized, term.digit))
        continue;
      aligned = aligned && term.coefficient * element % bytes == 0;
    }
    return aligned ? 1 : 1 + static_cast<double>(bytes) / kLineBytes;
  }

  /// Whether the vectorized loop's elements, so many at each place, lie next to each other.
  bool IsContiguous(const tensor::Affine& offset, int64_t elements) const {
    for (const tensor::LoopId loop : nest_.vectorized) {  // the innermost first
      const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
      for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
        if (program_.digit_extents[*digit] > 1) return offset.CoefficientOf(*digit) == elements;
      }
    }
    return false;
  }

  /// A value that is computed once, however often it is written down.
  struct Value {
    int id;
    LoopMask mask;
  };

  /// Adds what an expression computes.
  Value Add(const tensor::Expr& e) {
    if (const auto known = by_node_.find(e.get()); known != by_node_.end()) return known->second;
    LoopMask mask = 0;
    std::vector<int64_t> key = {static_cast<int64_t>(e->op), static_cast<int64_t>(e->dtype),
                                e->index, e->int_value, std::bit_cast<int64_t>(e->float_value)};
    const size_t before = operations_.size();
    for (const tensor::Expr& operand : e->operands) {
      const Value value = Add(operand);
      key.push_back(value.id);
      mask |= value.mask;
    }
    if (e->op == tensor::ExprOp::kIter) mask = MaskOfIter(e->index);
    const auto [place, is_new] =
        by_content_.emplace(std::move(key), Value{static_cast<int>(by_content_.size()), mask});
    if (is_new && e->op == tensor::ExprOp::kLoad) {
      // Places are computed along with the loops.
      if (IsAffine(*e)) operations_.resize(before);
      operations_.push_back({mask, LoadCost(e->operands, e->index, mask), true});
    } else if (is_new) {
      if (const double cost = CostOf(*e, mask); cost > 0) operations_.push_back({mask, cost});
    }
    by_node_.emplace(e.get(), place->second);
    return place->second;
  }

  static bool IsAffine(const tensor::ExprNode& load) {
    return std::ranges::all_of(load.operands,
                               [](const tensor::Expr& index) { return ReadsNothing(*index); });
  }

  /// Whether it follows from the place alone, as the guards of padding do: code is split by those.
  static bool ReadsNothing(const tensor::ExprNode& node) {
    return node.op != tensor::ExprOp::kLoad &&
           std::ranges::all_of(node.operands,
                               [](const tensor::Expr& operand) { return ReadsNothing(*operand); });
  }

  /// A literal by which is divided by multiplying, or by shifting.
  static bool IsPowerOfTwo(const tensor::ExprNode& node) {
    int exponent = 0;
    return node.op == tensor::ExprOp::kFloat
               ? std::frexp(node.float_value, &exponent) == 0.5
               : node.op == tensor::ExprOp::kInt && node.int_value > 0 &&
                     std::has_single_bit(static_cast<uint64_t>(node.int_value));
  }

  double CostOf(const tensor::ExprNode& node, LoopMask mask) const {
    if (node.operands.empty() || (ReadsNothing(node) && node.op != tensor::ExprOp::kCast)) return 0;
    if (node.op == tensor::ExprOp::kSelect && ReadsNothing(*node.operands[0])) {
      return kGuard * costs_.multiply_add;
    }
    if (tensor::IsTranscendental(node.op)) return costs_.transcendental;
    if (node.op == tensor::ExprOp::kSqrt) return costs_.division;
    const double operation = ((mask & kVector) != 0 ? 1 : kScalarOperation) * costs_.multiply_add;
    const bool divides = node.op >= tensor::ExprOp::kDiv && node.op <= tensor::ExprOp::kMod &&
                         node.op != tensor::ExprOp::kMul;
    if (!divides || IsPowerOfTwo(*node.operands[1])) return operation;
    if (tensor::IsFloat(node.dtype)) return costs_.division;
    // Integer divisions have no vector form.
    return costs_.division * ((mask & kVector) != 0 ? std::min(nest_.width, nest_.lanes) : 1);
  }

  const tensor::Program& program_;
  const tensor::Block& block_;
  const RegisterNest& nest_;
  const Costs& costs_;
  const std::optional<DotWork>& dot_;  ///< of an instruction that sums up several products
  std::vector<LoopMask> masks_;        ///< of the iterators
  std::vector<Operation> operations_;
  std::map<const tensor::ExprNode*, Value> by_node_;
  std::map<std::vector<int64_t>, Value> by_content_;
};

/// What an iteration of a reduction takes for each of its outputs that are in registers.
class TileTime {
 public:
  TileTime(const RegisterNest& nest, const std::vector<Operation>& operations, const Costs& costs,
           double combine, double step, double registers)
      : nest_(nest),
        operations_(operations),
        costs_(costs),
        combine_(combine),
        step_(step),
        registers_(registers) {}

  /// With the best part of the loops in the tile.
  double Best() {
    taken_.assign(nest_.tile.size(), 1);
    const auto chunks = static_cast<int64_t>(nest_.chunks);
    const int64_t most = nest_.folds ? kFoldRegisters : 32;
    const bool even = nest_.lanes <= nest_.width || nest_.lanes == nest_.chunks * nest_.width;
    for (int64_t taken = 1; taken <= std::min(chunks, most); ++taken) {
      // Of a loop that ends within a register all registers are taken.
      if (nest_.folds || (chunks % taken == 0 && (even || taken == chunks)))
        Try(0, static_cast<double>(taken), static_cast<double>(taken));
    }
    return best_;
  }

 private:
  void Try(size_t loop, double chunks, double outputs) {
    if (loop == nest_.tile.size()) {
      best_ = std::min(best_, Of(chunks, outputs));
      return;
    }
    const int64_t steps = nest_.tile[loop].steps;
    const auto limit = static_cast<int64_t>(registers_ / outputs);
    for (int64_t taken = 1; taken <= std::min(steps, limit); ++taken) {
      if (steps % taken != 0) continue;
      taken_[loop] = taken;
      Try(loop + 1, chunks, outputs * static_cast<double>(taken));
    }
    taken_[loop] = 1;
  }

  double Of(double chunks, double outputs) const {
    double live = outputs, live_vectors_first = outputs;
    double arithmetic = outputs * combine_ + step_, loads = 0;
    for (const Operation& operation : operations_) {
      if ((operation.mask & kReductionMask) == 0) continue;  // computed once before
      double values = 1;
      for (size_t i = 0; i < Digits(); ++i) {
        if (Varies(operation, i)) values *= Taken(i, chunks);
      }
      (operation.is_load ? loads : arithmetic) += values * operation.cost;
      if (!operation.is_load) continue;
      live += Kept(operation, chunks, 0);
      live_vectors_first += Kept(operation, chunks, Digits() - 1);
    }
    if (std::min(live, live_vectors_first) > registers_) return kNever;
    return std::max(Together(arithmetic, loads), costs_.in_flight) / outputs;
  }

  /// The tile's loops and, last, the registers of the vectorized one.
  size_t Digits() const { return taken_.size() + 1; }
  double Taken(size_t i, double chunks) const {
    return i < taken_.size() ? static_cast<double>(taken_[i]) : chunks;
  }
  bool Varies(const Operation& operation, size_t i) const {
    return (operation.mask & (i < taken_.size() ? LoopMask{1} << (kFirstTile + i) : kVector)) != 0;
  }

  /// Registers that a load's values stay in while they are used again, with the digits in turn from
  /// number `first` on, which is the slowest.
  double Kept(const Operation& operation, double chunks, size_t first) const {
    double kept = 1;
    bool reused = false;
    for (size_t n = 0; n < Digits(); ++n) {
      const size_t i = (first + n) % Digits();
      const bool varies = Varies(operation, i);
      if (varies && reused) kept *= Taken(i, chunks);
      reused = reused || (!varies && Taken(i, chunks) > 1);
    }
    return kept;
  }

  static constexpr double kNever = 1e30;
  /// That take turns for a result (codegen/internal/emit/fold_plan.h).
  static constexpr int64_t kFoldRegisters = 4;
  const RegisterNest& nest_;
  const std::vector<Operation>& operations_;
  const Costs& costs_;
  double combine_, step_, registers_;
  std::vector<int64_t> taken_;
  double best_ = kNever;
};

/// Statements that are unrolled together in a nest without a reduction, at most.
constexpr int64_t kMaxUnrolled = 384;

int64_t MaxStep(const tensor::Program& program, const std::vector<tensor::LoopId>& loops) {
  int64_t max_step = 0;
  for (tensor::LoopId loop : loops) {
    max_step = std::max(max_step, program.loops[loop].unroll_max_step);
  }
  return max_step;
}

/// The innermost loops that are unrolled around a block, as the tile of its nest.
void TakeUnrolled(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                  RegisterNest& nest) {
  const int64_t limit = std::min(MaxStep(program, loops), kMaxUnrolled);
  auto steps = static_cast<int64_t>(nest.chunks);
  for (auto loop = loops.rbegin() + std::ssize(nest.vectorized); loop != loops.rend(); ++loop) {
    const int64_t extent = program.ExtentOf(*loop);
    const tensor::LoopKind kind = program.loops[*loop].kind;
    steps *= extent;
    if (steps > (kind == tensor::LoopKind::kUnrolled ? kMaxUnrolled : limit) ||
        program.loops[*loop].body.size() > 1 || kind == tensor::LoopKind::kParallel) {
      return;
    }
    if (extent > 1) nest.tile.push_back({*loop, extent, extent});
  }
}

/// The innermost loop's step, unless it is unrolled.
double StepSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                   const Costs& costs) {
  const int64_t max_step = MaxStep(program, loops);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const int64_t extent = program.ExtentOf(*loop);
    const tensor::LoopKind kind = program.loops[*loop].kind;
    if (kind == tensor::LoopKind::kVectorized || kind == tensor::LoopKind::kTensorized ||
        kind == tensor::LoopKind::kUnrolled || extent == 1) {
      continue;
    }
    return extent <= std::max<int64_t>(max_step, 1) ? 0 : kLoopStep * costs.multiply_add;
  }
  return 0;
}

/// Seconds of one thread alone, without what the caches lack.
double OperationSeconds(const tensor::Program& program, tensor::BlockId id,
                        const std::vector<tensor::LoopId>& loops, double iterations,
                        const target::Target& target, const target::MachineModel& machine) {
  const tensor::Block& block = program.blocks[id];
  const Costs costs(machine);
  RegisterNest nest = RegisterNestOf(program, id, loops, machine);
  if (!nest.is_reduction) TakeUnrolled(program, loops, nest);
  const std::optional<DotWork> dot = DotWorkOf(block, target, nest);
  OperationList list(program, block, nest, costs, dot);
  const auto at_once = static_cast<double>(nest.at_once);
  const double runs = iterations / (nest.lanes * at_once) * nest.chunks;  // of registers
  const LoopMask output = list.MaskOf(block.output_index);
  const double store = list.MemoryCost(block.output_index, block.output, output);
  const double step = StepSeconds(program, loops, costs);
  if (block.kind == tensor::BlockKind::kInit || !block.value.defined()) {
    return runs * (store + step / nest.chunks);
  }
  const std::vector<Operation> operations = list.Take(block.value);
  double arithmetic = 0, loads = 0, once = 0;
  for (const Operation& operation : operations) {
    double shared = (operation.mask & kVector) != 0 ? 1 : nest.chunks;
    for (size_t i = 0; !nest.is_reduction && i < nest.tile.size(); ++i) {
      const bool varies = (operation.mask >> (kFirstTile + i) & 1) != 0;
      if (!varies) shared *= static_cast<double>(nest.tile[i].steps);
    }
    (operation.is_load ? loads : arithmetic) += operation.cost / shared;
    if ((operation.mask & kReductionMask) == 0) once += operation.cost;
  }
  const double all = Together(arithmetic, loads + store) + step / nest.chunks;
  if (!nest.is_reduction) return runs * all;
  const double combine = (dot              ? dot->combine
                          : nest.lanes > 1 ? 1
                                           : kScalarOperation) *
                         costs.multiply_add;
  // In memory: what was stored must be loaded again.
  const double in_memory = all + combine + costs.load;
  if (!nest.in_registers) return runs * in_memory;
  const bool is_integer = !tensor::IsFloat(program.buffers[block.output].dtype);
  const double registers =
      is_integer && nest.lanes == 1 ? kIntegerRegisters : machine.vector_registers;
  const double each = TileTime(nest, operations, costs, combine, step, registers).Best();
  double reduced = 1 / at_once;
  for (tensor::LoopId loop : nest.reduction) {
    reduced *= static_cast<double>(program.ExtentOf(loop));
  }
  if (!nest.folds) {
    return runs * std::min(each, in_memory + costs.in_flight) + runs / reduced * (once + 2 * store);
  }
  // The lanes of a result are combined in halves, each of which waits for the one before.
  const double folding = std::log2(nest.width) * costs.in_flight;
  return runs * each + iterations / reduced * (once + 2 * store + folding);
}

double EstimateBlockCode(const tensor::Program& program, tensor::BlockId block,
                         const std::vector<tensor::LoopId>& loops, const target::Target& target,
                         const target::MachineModel& machine) {
  if (program.blocks[block].kind == tensor::BlockKind::kCall) {
    return CallSeconds(program.blocks[block], machine);
  }
  double iterations = 1, jobs = 1;
  for (tensor::LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kParallel) jobs *= extent;
  }
  const EstimateWeights weights;
  const double busy = jobs / std::ceil(jobs / machine.threads);
  const double slower = machine.multiply_add.PerThread(busy) / machine.multiply_add.alone;
  const double seconds =
      slower * OperationSeconds(program, block, loops, iterations, target, machine) +
      LineSeconds(program, block, loops, iterations, CachesOf(machine, weights, busy),
                  /*whole_lines=*/true);
  return seconds / busy + (jobs > 1 ? weights.job * machine.job * jobs : 0);
}

}  // namespace

double EstimateCodeTime(const tensor::Program& program, const target::Target& target) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) return EstimateTime(program, target);
  const target::MachineModel machine = target::MachineOf(target);
  double seconds = 0;
  std::set<tensor::LoopId> counted;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    seconds += EstimateBlockCode(program, block, loops, target, machine);
    seconds += EstimateWeights().fork_join * ForkJoinSeconds(program, loops, machine, counted);
  }
  return seconds;
}

}  // namespace bayloom::feature
