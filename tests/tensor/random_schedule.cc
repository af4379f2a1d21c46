// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tensor/random_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bayloom/tensor/trace.h"

namespace bayloom::testing {

bool RandomScheduler::Step() {
  // Restructuring loops is what makes the other primitives interesting: it is tried more often.
  static const std::vector<double> weights = {5, 2, 5, 0.7, 0.7, 0.3, 1,   1, 3, 3,
                                              1, 1, 1, 1.5, 0.5, 0.1, 0.3, 4, 2, 2};
  const int primitive = random_.Weighted(weights);
  const uint64_t before = program_.StructuralHash();
  const bool applied = Apply(primitive);
  if (!applied && program_.StructuralHash() != before) {
    history_ += fmt::format("REFUSED {} CHANGED THE PROGRAM\n", kPrimitiveNames[primitive]);
    return true;
  }
  applied_[primitive] += applied ? 1 : 0;
  return applied;
}

bool RandomScheduler::Apply(int primitive) {
  const tensor::BlockId block = AnyBlock();
  const tensor::LoopId loop = AnyLoop();
  const std::string& name = program_.blocks[block].name;
  if (loop < 0) return false;
  switch (primitive) {
    case 0:
      return Split(loop);
    case 1: {
      std::vector<tensor::LoopId> chain = ChainFrom(loop);
      chain.resize(1 + random_.UniformInt(static_cast<int64_t>(chain.size())));
      return Done(tensor::Fuse(program_, chain), fmt::format("fuse {}", fmt::join(chain, " ")));
    }
    case 2:
      return Reorder(loop);
    case 3:
      return Done(tensor::Parallelize(program_, loop), fmt::format("parallelize {}", loop));
    case 4:
      return Done(tensor::Vectorize(program_, loop), fmt::format("vectorize {}", loop));
    case 5:
      return Done(tensor::Unroll(program_, loop), fmt::format("unroll {}", loop));
    case 6:
      return Done(tensor::ComputeInline(program_, block), fmt::format("inline {}", name));
    case 7:
      return Done(tensor::ReverseComputeInline(program_, block),
                  fmt::format("reverse inline {}", name));
    case 8: {
      const tensor::LoopId place = random_.UniformInt(8) == 0 ? -1 : loop;
      return Done(tensor::ComputeAt(program_, block, place),
                  fmt::format("compute {} at {}", name, place));
    }
    case 9: {
      // Under a loop of something the block reads, most of the time.
      tensor::BlockId other = AnyBlock();
      for (int i = 0; i < 8; ++i) {
        if (tensor::Loads(program_.blocks[block].value, program_.blocks[other].output)) break;
        other = AnyBlock();
      }
      const tensor::LoopId place = AnyLoopAround(other);
      if (place < 0) return false;
      return Done(tensor::ReverseComputeAt(program_, block, place),
                  fmt::format("reverse compute {} at {}", name, place));
    }
    case 10: {
      const tensor::BufferId buffer = static_cast<tensor::BufferId>(
          random_.UniformInt(static_cast<int64_t>(program_.buffers.size())));
      return Done(tensor::CacheRead(program_, block, buffer, tensor::StorageScope::kLocal),
                  fmt::format("cache read {} of {}", program_.buffers[buffer].name, name));
    }
    case 11:
      return Done(tensor::CacheWrite(program_, block, tensor::StorageScope::kGlobal),
                  fmt::format("cache write {}", name));
    case 12: {
      const tensor::LoopId place = AnyLoopAround(block);
      if (place < 0) return false;
      return Done(tensor::DecomposeReduction(program_, block, place),
                  fmt::format("decompose {} at {}", name, place));
    }
    case 13: {
      const tensor::LoopId place = AnyLoopAround(block);
      if (place < 0) return false;
      return Done(tensor::RFactor(program_, block, place),
                  fmt::format("rfactor {} over {}", name, place));
    }
    case 14: {
      const tensor::BufferId buffer = static_cast<tensor::BufferId>(
          random_.UniformInt(static_cast<int64_t>(program_.buffers.size())));
      return Done(tensor::RewriteLayout(program_, buffer),
                  fmt::format("rewrite layout {}", program_.buffers[buffer].name));
    }
    case 15:
      return Done(tensor::AnnotateUnroll(program_, loop, 16),
                  fmt::format("annotate unroll {}", loop));
    case 16: {
      const auto kind = static_cast<tensor::LoopKind>(static_cast<int>(tensor::LoopKind::kBlockX) +
                                                      random_.UniformInt(7));
      return Done(tensor::Bind(program_, loop, kind), fmt::format("bind {}", loop));
    }
    case 17:
      return Tensorize(block);
    case 18: {
      const int64_t tile = 1 + random_.UniformInt(program_.ExtentOf(loop));
      const auto split = tensor::SplitOverlapping(program_, loop, tile);
      const std::string into = split ? fmt::format("{}", fmt::join(*split, " ")) : "";
      return Done(split, fmt::format("split {} into overlapping {} as {}", loop, tile, into));
    }
    default: {
      const std::vector<tensor::LoopId> places = tensor::ComputeLocations(program_, block);
      if (places.empty()) return false;
      const tensor::LoopId place = places[random_.UniformInt(static_cast<int64_t>(places.size()))];
      const Status status = tensor::ComputeAt(program_, block, place);
      if (!status) history_ += "A LISTED PLACE WAS REFUSED: " + status.error().message + "\n";
      return Done(status, fmt::format("compute {} at listed {}", name, place));
    }
  }
}

bool RandomScheduler::Done(const Status& status, std::string what) {
  if (status) history_ += what + "\n";
  return status.ok();
}

bool RandomScheduler::Split(tensor::LoopId loop) {
  const int parts = 2 + static_cast<int>(random_.UniformInt(3));
  const std::vector<int64_t> factors =
      *tensor::SamplePerfectTiling(program_.ExtentOf(loop), parts, 1 << 30, random_);
  Result<std::vector<tensor::LoopId>> loops = bayloom::tensor::Split(program_, loop, factors);
  const std::string into = loops ? fmt::format("{}", fmt::join(*loops, " ")) : "";
  return Done(loops, fmt::format("split {} by {} into {}", loop, fmt::join(factors, " x "), into));
}

/// A loop of the block, or the part of it that is as long as instructions take.
bool RandomScheduler::Tensorize(tensor::BlockId block) {
  for (tensor::LoopId loop : program_.LoopsAround(tensor::NodeRef::Block(block))) {
    tensor::Program split = program_;
    const Result<std::vector<tensor::LoopId>> parts =
        bayloom::tensor::Split(split, loop, std::vector<int64_t>{-1, 4});
    if (parts && bayloom::tensor::Tensorize(split, parts->back())) {
      program_ = std::move(split);
      return Done(Ok(), fmt::format("split {} by 4 and tensorize {}", loop, parts->back()));
    }
  }
  const tensor::LoopId loop = AnyLoopAround(block);
  return loop >= 0 &&
         Done(bayloom::tensor::Tensorize(program_, loop), fmt::format("tensorize {}", loop));
}

bool RandomScheduler::Reorder(tensor::LoopId loop) {
  std::vector<tensor::LoopId> order = ChainFrom(loop);
  random_.Shuffle(order);
  order.resize(1 + random_.UniformInt(static_cast<int64_t>(order.size())));
  return Done(bayloom::tensor::Reorder(program_, order),
              fmt::format("reorder {}", fmt::join(order, " ")));
}

tensor::LoopId RandomScheduler::AnyLoop() {
  for (int i = 0; i < 16; ++i) {
    const tensor::LoopId loop = AnyLoopAround(AnyBlock());
    if (loop >= 0) return loop;
  }
  return -1;
}

tensor::BlockId RandomScheduler::AnyBlock() {
  const std::vector<tensor::BlockId> blocks = program_.BlocksInOrder();
  return blocks[random_.UniformInt(static_cast<int64_t>(blocks.size()))];
}

tensor::LoopId RandomScheduler::AnyLoopAround(tensor::BlockId block) {
  const std::vector<tensor::LoopId> loops = program_.LoopsAround(tensor::NodeRef::Block(block));
  if (loops.empty()) return -1;
  return loops[random_.UniformInt(static_cast<int64_t>(loops.size()))];
}

std::vector<tensor::LoopId> RandomScheduler::ChainFrom(tensor::LoopId loop) {
  std::vector<tensor::LoopId> chain = {loop};
  while (program_.loops[chain.back()].body.size() == 1 &&
         program_.loops[chain.back()].body[0].is_loop()) {
    chain.push_back(program_.loops[chain.back()].body[0].id);
  }
  return chain;
}

}  // namespace bayloom::testing
