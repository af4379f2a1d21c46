// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <optional>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/internal/gpu/gpu_rules.h"

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

/// Whether it has a nest of its own, and is none of the products, which are tiled.
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

/// Blocks computed in loops over rows of the last of them.
struct Chain {
  tensor::Schedule schedule;
  Names blocks;          ///< in order
  size_t row_loops = 0;  ///< of the last block, around all of them
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
  if (!IsReadBy(chain.schedule.program(), name, chain.blocks)) return Error{"others read it, too"};
  tensor::Schedule schedule = chain.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  const int64_t before = Iterations(schedule.program(), schedule.Get(*block));
  if (Status s = schedule.ComputeAt(*block, row); !s) return s;
  if (Iterations(schedule.program(), schedule.Get(*block)) != before) {
    return Error{"rows share it"};
  }
  chain.schedule = std::move(schedule);
  chain.blocks.insert(chain.blocks.begin(), name);
  return Ok();
}

/// With the shortest rows for which there is a chain with a reduction; `candidates`: blocks before.
std::optional<Chain> ChainInto(const tensor::Schedule& schedule, const std::string& last,
                               std::span<const std::string> candidates) {
  const tensor::Program& program = schedule.program();
  const auto rows =
      static_cast<size_t>(std::ranges::count(program.blocks[program.FindBlock(last)].iters,
                                             tensor::IterKind::kSpatial, &tensor::Iter::kind));
  for (size_t row_loops = rows; row_loops > 0; --row_loops) {
    Chain chain{schedule, {last}, row_loops};
    Result<tensor::BlockVar> block = chain.schedule.GetBlock(last);
    if (!block) return std::nullopt;
    Result<Loops> loops = chain.schedule.GetLoops(*block);
    if (!loops) return std::nullopt;
    for (auto name = candidates.rbegin(); name != candidates.rend(); ++name) {
      if (IsFree(chain.schedule.program(), *name)) {
        (void)Join(chain, *name, (*loops)[row_loops - 1]);
      }
    }
    const bool reduces = std::ranges::any_of(chain.blocks, [&](const std::string& name) {
      return Reduces(chain.schedule.program(), name);
    });
    if (chain.blocks.size() > 1 && reduces) return chain;
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
    for (const std::string& name : chain_.blocks) {
      Result<tensor::BlockVar> block = schedule_.GetBlock(name);
      if (!block) return block.error();
      if (Status s = ShareBlock(*block, name == chain_.blocks.back(), *threads); !s) {
        return s.error();
      }
    }
    return std::move(schedule_);
  }

  /// Of a row's intermediates.
  int64_t shared_bytes() const { return shared_bytes_; }

 private:
  Status ShareBlock(tensor::BlockVar block, bool is_last, tensor::ValueVar threads) {
    Result<Loops> loops = schedule_.GetLoops(block);
    if (!loops) return loops.error();
    const auto inside = loops->begin() + static_cast<int64_t>(chain_.row_loops);
    const Loops rows(loops->begin(), inside), own(inside, loops->end());
    if (own.empty()) return Error{"rows of one element"};
    Result<int64_t> elements = ShareLoops(block, own, is_last, threads);
    if (!elements) return elements.error();
    if (is_last) {
      Result<tensor::LoopVar> blocks = FuseAll(schedule_, rows);
      return blocks ? schedule_.Bind(*blocks, tensor::LoopKind::kBlockX) : Status(blocks.error());
    }
    const tensor::Program& program = schedule_.program();
    const tensor::BufferId output = program.blocks[schedule_.Get(block)].output;
    shared_bytes_ += *elements * tensor::ByteSize(program.buffers[output].dtype);
    return schedule_.SetScope(block, tensor::StorageScope::kShared);
  }

  /// All threads share one sum; of several, as of parts of rows, each thread has some. Returns how
  /// many elements of a row there are.
  Result<int64_t> ShareLoops(tensor::BlockVar block, const Loops& own, bool is_last,
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
    if (is_last && reductions.empty() && Extent(schedule_, {own.back()}) % kWidth == 0) {
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

}  // namespace

void ShareRows(GpuSketch& sketch, const target::GpuLimits& limits) {
  Names names;
  for (const tensor::BlockId id : sketch.schedule.program().BlocksInOrder()) {
    names.push_back(sketch.schedule.program().blocks[id].name);
  }
  for (size_t last = names.size(); last-- > 0;) {
    if (!IsFree(sketch.schedule.program(), names[last])) continue;
    std::optional<Chain> chain =
        ChainInto(sketch.schedule, names[last], std::span(names).first(last));
    if (!chain) continue;
    RowSharer sharer(*std::move(chain));
    Result<tensor::Schedule> shared = sharer.Share();
    if (shared && sharer.shared_bytes() <= limits.max_shared_bytes) {
      sketch.schedule = *std::move(shared);
    }
  }
}

}  // namespace bayloom::sketch
