// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <optional>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/gpu/gpu_rules.h"

namespace bayloom::sketch {
namespace {

using Loops = std::vector<tensor::LoopVar>;
using Names = std::vector<std::string>;

/// Threads of a row.
const std::vector<int64_t> kThreads = {32, 64, 128, 256, 512, 1024};
/// Elements that a thread stores at once at the end, where rows are a multiple of them.
constexpr int64_t kWidth = 4;

int64_t Extent(const tensor::Schedule& schedule, const Loops& loops) {
  return std::accumulate(loops.begin(), loops.end(), int64_t{1},
                         [&](int64_t extent, tensor::LoopVar loop) {
                           return extent * schedule.program().ExtentOf(schedule.Get(loop));
                         });
}

/// Whether it has a nest of its own, and is not one of the products, which are tiled.
bool IsFree(const tensor::Program& program, const std::string& name) {
  const tensor::BlockId id = program.FindBlock(name);
  if (id < 0 || !IsUntransformed(program, id) || HasDataReuse(program, id)) return false;
  const tensor::Block& block = program.blocks[id];
  const bool is_alone = std::ranges::all_of(
      program.LoopsAround(tensor::NodeRef::Block(id)), [&](tensor::LoopId loop) {
        return program.loops[loop].body.size() == 1 &&
               program.loops[loop].kind == tensor::LoopKind::kSerial;
      });
  return is_alone && block.kind != tensor::BlockKind::kCall && !block.iters.empty() &&
         program.buffers[block.output].scope == tensor::StorageScope::kGlobal;
}

bool Reduces(const tensor::Program& program, const std::string& name) {
  return program.blocks[program.FindBlock(name)].kind == tensor::BlockKind::kReduce;
}

/// Blocks computed in loops over rows of one of them, the stem. Those before it are read by the
/// chain only; it and the last one behind it, if there are such, may be read by others, too.
struct Chain {
  tensor::Schedule schedule;
  Names before;  ///< in order
  std::string stem;
  Names behind;          ///< in order
  size_t row_loops = 0;  ///< of the stem, around all of them

  Names Blocks() const {
    Names all = before;
    all.push_back(stem);
    all.insert(all.end(), behind.begin(), behind.end());
    return all;
  }
};

bool IsReadBy(const tensor::Program& program, const std::string& name, const Names& readers) {
  const tensor::BufferId output = program.blocks[program.FindBlock(name)].output;
  return program.buffers[output].role == tensor::BufferRole::kIntermediate &&
         std::ranges::all_of(program.ReadersOf(output), [&](tensor::BlockId reader) {
           return std::ranges::count(readers, program.blocks[reader].name) > 0;
         });
}

/// What only the chain reads, and is then computed as often as before, joins it.
Status Join(Chain& chain, const std::string& name, tensor::LoopVar row) {
  if (!IsReadBy(chain.schedule.program(), name, chain.Blocks())) {
    return Error{"others read it, too"};
  }
  tensor::Schedule schedule = chain.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  const int64_t before = Iterations(schedule.program(), schedule.Get(*block));
  if (Status s = schedule.ComputeAt(*block, row); !s) return s;
  if (Iterations(schedule.program(), schedule.Get(*block)) != before) {
    return Error{"rows share it"};
  }
  chain.schedule = std::move(schedule);
  chain.before.insert(chain.before.begin(), name);
  return Ok();
}

/// What reads a row of the stem, and is then computed as often as before, joins it.
Status Follow(Chain& chain, const std::string& name, tensor::LoopVar row) {
  Result<tensor::BlockVar> block = chain.schedule.GetBlock(name);
  if (!block) return block.error();
  const int64_t iterations = Iterations(chain.schedule.program(), chain.schedule.Get(*block));
  if (Status s = chain.schedule.ReverseComputeAt(*block, row); !s) return s;
  if (Iterations(chain.schedule.program(), chain.schedule.Get(*block)) != iterations) {
    return Error{"rows share it"};
  }
  chain.behind.push_back(name);
  return Ok();
}

size_t RowsOf(const tensor::Program& program, const std::string& name) {
  return static_cast<size_t>(std::ranges::count(program.blocks[program.FindBlock(name)].iters,
                                                tensor::IterKind::kSpatial, &tensor::Iter::kind));
}

/// The chain of that many loops over rows; `candidates`: blocks before the stem, `behind`: those
/// behind it that shall join it, too. Without a reduction there is none.
Result<Chain> ChainAround(const tensor::Schedule& schedule, const std::string& stem,
                          size_t row_loops, std::span<const std::string> candidates,
                          const Names& behind) {
  Chain chain{schedule, {}, stem, {}, row_loops};
  Result<tensor::BlockVar> block = chain.schedule.GetBlock(stem);
  if (!block) return block.error();
  Result<Loops> loops = chain.schedule.GetLoops(*block);
  if (!loops) return loops.error();
  const tensor::LoopVar row = (*loops)[row_loops - 1];
  for (const std::string& name : behind) {
    if (Status s = Follow(chain, name, row); !s) return s.error();
  }
  for (auto name = candidates.rbegin(); name != candidates.rend(); ++name) {
    if (IsFree(chain.schedule.program(), *name)) (void)Join(chain, *name, row);
  }
  const Names blocks = chain.Blocks();
  const bool reduces = std::ranges::any_of(
      blocks, [&](const std::string& name) { return Reduces(chain.schedule.program(), name); });
  if (blocks.size() == 1 || !reduces) return Error{"no chain"};
  return chain;
}

/// With the shortest rows for which there is a chain that ends with this block; `candidates`:
/// blocks before.
std::optional<Chain> ChainInto(const tensor::Schedule& schedule, const std::string& last,
                               std::span<const std::string> candidates) {
  for (size_t row_loops = RowsOf(schedule.program(), last); row_loops > 0; --row_loops) {
    Result<Chain> chain = ChainAround(schedule, last, row_loops, candidates, {});
    if (chain) return *std::move(chain);
  }
  return std::nullopt;
}

/// Where what the chain into `last` reads is read by others, too, such as exponentials that are
/// summed up and multiplied: the chain around that.
std::optional<Chain> ChainAroundWhatOthersRead(const tensor::Schedule& schedule,
                                               const std::string& last, const Names& before,
                                               std::span<const std::string> candidates) {
  Names behind = before;
  behind.push_back(last);
  const tensor::Program& program = schedule.program();
  for (size_t stem = candidates.size(); stem-- > 0;) {
    const std::string& name = candidates[stem];
    if (std::ranges::count(behind, name) > 0 || !IsFree(program, name)) continue;
    const tensor::BufferId output = program.blocks[program.FindBlock(name)].output;
    const bool is_read =
        std::ranges::any_of(program.ReadersOf(output), [&](tensor::BlockId reader) {
          return std::ranges::count(behind, program.blocks[reader].name) > 0;
        });
    if (!is_read || Reduces(program, name) || RowsOf(program, name) < 2) continue;
    for (size_t row_loops = std::min(RowsOf(program, last), RowsOf(program, name) - 1);
         row_loops > 0; --row_loops) {
      Result<Chain> chain = ChainAround(schedule, name, row_loops, candidates.first(stem), behind);
      if (chain) return *std::move(chain);
    }
  }
  return std::nullopt;
}

class RowSharer {
 public:
  explicit RowSharer(Chain chain) : chain_(std::move(chain)) {}

  Result<tensor::Schedule> Share() {
    const std::vector<double> uniform(kThreads.size(), 1.0 / static_cast<double>(kThreads.size()));
    Result<tensor::ValueVar> threads = schedule_.SampleCategorical(kThreads, uniform);
    if (!threads) return threads.error();
    // The stem last: its loops over rows are one then.
    Names order = chain_.before;
    order.insert(order.end(), chain_.behind.begin(), chain_.behind.end());
    order.push_back(chain_.stem);
    for (const std::string& name : order) {
      Result<tensor::BlockVar> block = schedule_.GetBlock(name);
      if (!block) return block.error();
      if (Status s = ShareBlock(name, *block, *threads); !s) return s.error();
    }
    return std::move(schedule_);
  }

  /// Of a row's intermediates.
  int64_t shared_bytes() const { return shared_bytes_; }

 private:
  Status ShareBlock(const std::string& name, tensor::BlockVar block, tensor::ValueVar threads) {
    const bool is_stem = name == chain_.stem;
    Result<Loops> loops = schedule_.GetLoops(block);
    if (!loops) return loops.error();
    const auto inside = loops->begin() + static_cast<int64_t>(chain_.row_loops);
    const Loops rows(loops->begin(), inside), own(inside, loops->end());
    if (own.empty()) return Error{"rows of one element"};
    Result<int64_t> elements = ShareLoops(block, own, is_stem, threads);
    if (!elements) return elements.error();
    if (is_stem) {
      Result<tensor::LoopVar> blocks = FuseAll(schedule_, rows);
      return blocks ? schedule_.Bind(*blocks, tensor::LoopKind::kBlockX) : Status(blocks.error());
    }
    const tensor::Program& program = schedule_.program();
    if (!IsReadBy(program, name, chain_.Blocks())) return Ok();
    const tensor::BufferId output = program.blocks[schedule_.Get(block)].output;
    shared_bytes_ += *elements * tensor::ByteSize(program.buffers[output].dtype);
    return schedule_.SetScope(block, tensor::StorageScope::kShared);
  }

  /// All threads share one sum; of several, as of parts of rows, each thread has some. Returns how
  /// many elements of a row there are.
  Result<int64_t> ShareLoops(tensor::BlockVar block, const Loops& own, bool is_stem,
                             tensor::ValueVar threads) {
    Loops elements, reductions;
    for (const tensor::LoopVar loop : own) {
      (ReducesOver(block, loop) ? reductions : elements).push_back(loop);
    }
    const int64_t count = Extent(schedule_, elements);
    const bool is_one_sum = count == 1 && !reductions.empty();
    if (!is_one_sum && !reductions.empty()) {
      Loops order = elements;
      order.insert(order.end(), reductions.begin(), reductions.end());
      if (Status s = schedule_.Reorder(order); !s) return s.error();
    }
    Result<tensor::LoopVar> all = FuseAll(schedule_, is_one_sum ? reductions : elements);
    if (!all) return all.error();
    tensor::LoopVar shared = *all;
    if (is_stem && reductions.empty() && Extent(schedule_, {own.back()}) % kWidth == 0) {
      Result<Loops> parts = schedule_.Split(*all, std::vector<int64_t>{-1, kWidth});
      if (!parts) return parts.error();
      shared = parts->front();
      if (Status s = schedule_.Vectorize(parts->back()); !s) return s.error();
    }
    const auto kind = is_one_sum ? tensor::LoopKind::kThreadReduce : tensor::LoopKind::kCooperative;
    if (Status s = schedule_.Bind(shared, kind, threads); !s) return s.error();
    return count;
  }

  bool ReducesOver(tensor::BlockVar variable, tensor::LoopVar loop) const {
    const tensor::Program& program = schedule_.program();
    const tensor::Block& block = program.blocks[schedule_.Get(variable)];
    bool reduces = false;
    for (const tensor::DigitId digit : program.loops[schedule_.Get(loop)].digits) {
      for (size_t i = 0; i < block.iters.size(); ++i) {
        reduces |= program.digit_extents[digit] > 1 &&
                   block.iters[i].kind == tensor::IterKind::kReduction &&
                   block.bindings[i].CoefficientOf(digit) != 0;
      }
    }
    return reduces;
  }

  Chain chain_;
  tensor::Schedule& schedule_ = chain_.schedule;
  int64_t shared_bytes_ = 0;
};

/// False, and the sketch stays as it is, where the chain cannot be shared or a row's intermediates
/// do not fit into shared memory.
bool Apply(GpuSketch& sketch, Chain chain, const target::GpuLimits& limits) {
  RowSharer sharer(std::move(chain));
  Result<tensor::Schedule> shared = sharer.Share();
  if (!shared || sharer.shared_bytes() > limits.max_shared_bytes) return false;
  sketch.schedule = *std::move(shared);
  return true;
}

}  // namespace

void ShareRows(GpuSketch& sketch, const target::GpuLimits& limits) {
  Names names;
  for (const tensor::BlockId id : sketch.schedule.program().BlocksInOrder()) {
    names.push_back(sketch.schedule.program().blocks[id].name);
  }
  for (size_t last = names.size(); last-- > 0;) {
    if (!IsFree(sketch.schedule.program(), names[last])) continue;
    const std::span<const std::string> candidates = std::span(names).first(last);
    std::optional<Chain> chain = ChainInto(sketch.schedule, names[last], candidates);
    std::optional<Chain> larger = ChainAroundWhatOthersRead(
        sketch.schedule, names[last], chain ? chain->before : Names(), candidates);
    const bool is_applied = larger && Apply(sketch, *std::move(larger), limits);
    if (!is_applied && chain) Apply(sketch, *std::move(chain), limits);
  }
}

}  // namespace bayloom::sketch
