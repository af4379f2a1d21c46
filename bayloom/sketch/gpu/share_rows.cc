// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bayloom/sketch/internal/gpu/gpu_rules.h"
#include "bayloom/sketch/row_chain.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

using Loops = std::vector<tensor::LoopVar>;

/// Threads of a row.
const std::vector<int64_t> kThreads = {32, 64, 128, 256, 512, 1024};
/// Elements of the output that a thread stores at once, where rows are a multiple of them.
constexpr int64_t kWidth = 4;

int64_t Extent(const tensor::Schedule& schedule, const Loops& loops) {
  return std::accumulate(loops.begin(), loops.end(), int64_t{1},
                         [&](int64_t extent, tensor::LoopVar loop) {
                           return extent * schedule.program().ExtentOf(schedule.Get(loop));
                         });
}

class RowSharer {
 public:
  explicit RowSharer(RowChain chain) : chain_(std::move(chain)) {}

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
    const Loops rows(loops->begin(), loops->begin() + static_cast<int64_t>(chain_.row_loops));
    const Loops own(loops->begin() + static_cast<int64_t>(chain_.row_loops), loops->end());
    if (own.empty()) return Error{"rows of one element"};
    if (!is_last) return ShareIntermediate(block, own, threads);
    if (Status s = ShareOutput(own, threads); !s) return s;
    Result<tensor::LoopVar> blocks = FuseAll(schedule_, rows);
    return blocks ? schedule_.Bind(*blocks, tensor::LoopKind::kBlockX) : Status(blocks.error());
  }

  /// All threads share one sum; of several, as of parts of rows, each thread has some.
  Status ShareIntermediate(tensor::BlockVar block, const Loops& own, tensor::ValueVar threads) {
    Loops elements, reductions;
    for (const tensor::LoopVar loop : own) {
      (Reduces(block, loop) ? reductions : elements).push_back(loop);
    }
    const int64_t count = Extent(schedule_, elements);
    const bool is_one_sum = count == 1 && !reductions.empty();
    if (!is_one_sum && !reductions.empty()) {
      Loops order = elements;
      order.insert(order.end(), reductions.begin(), reductions.end());
      if (Status s = schedule_.Reorder(order); !s) return s;
    }
    Result<tensor::LoopVar> all = FuseAll(schedule_, is_one_sum ? reductions : elements);
    if (!all) return all.error();
    const auto kind = is_one_sum ? tensor::LoopKind::kThreadReduce : tensor::LoopKind::kCooperative;
    if (Status s = schedule_.Bind(*all, kind, threads); !s) return s;
    const tensor::Program& program = schedule_.program();
    const tensor::BufferId output = program.blocks[schedule_.Get(block)].output;
    shared_bytes_ += count * tensor::ByteSize(program.buffers[output].dtype);
    return schedule_.SetScope(block, tensor::StorageScope::kShared);
  }

  bool Reduces(tensor::BlockVar variable, tensor::LoopVar loop) const {
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

  Status ShareOutput(const Loops& own, tensor::ValueVar threads) {
    const int64_t innermost = Extent(schedule_, {own.back()});
    Result<tensor::LoopVar> all = FuseAll(schedule_, own);
    if (!all) return all.error();
    tensor::LoopVar shared = *all;
    if (innermost % kWidth == 0) {
      Result<Loops> parts = schedule_.Split(*all, std::vector<int64_t>{-1, kWidth});
      if (!parts) return parts.error();
      shared = parts->front();
      if (Status s = schedule_.Vectorize(parts->back()); !s) return s;
    }
    return schedule_.Bind(shared, tensor::LoopKind::kCooperative, threads);
  }

  RowChain chain_;
  tensor::Schedule& schedule_ = chain_.schedule;
  int64_t shared_bytes_ = 0;
};

}  // namespace

std::optional<GpuSketch> ShareRows(const tensor::Schedule& inlined,
                                   const target::GpuLimits& limits) {
  std::optional<RowChain> chain = ComputeInRows(inlined);
  if (!chain) return std::nullopt;
  RowSharer sharer(*std::move(chain));
  Result<tensor::Schedule> shared = sharer.Share();
  if (!shared || sharer.shared_bytes() > limits.max_shared_bytes) return std::nullopt;
  return GpuSketch{*std::move(shared), {}};
}

}  // namespace bayloom::sketch
