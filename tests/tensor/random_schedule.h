// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::testing {

/// Applies random primitives to random places of a program. What is refused leaves no trace, and
/// must leave the program as it was.
class RandomScheduler {
 public:
  RandomScheduler(tensor::Program& program, uint64_t seed) : program_(program), random_(seed) {}

  /// One attempt; true if the primitive was applied.
  bool Step();
  /// What was applied so far, one line each.
  const std::string& history() const { return history_; }
  /// How often each primitive was applied, by its position in kPrimitiveNames.
  const std::vector<int>& applied() const { return applied_; }

  static constexpr const char* kPrimitiveNames[] = {"split",
                                                    "fuse",
                                                    "reorder",
                                                    "parallelize",
                                                    "vectorize",
                                                    "unroll",
                                                    "inline",
                                                    "reverse inline",
                                                    "compute at",
                                                    "reverse compute at",
                                                    "cache read",
                                                    "cache write",
                                                    "decompose",
                                                    "rfactor",
                                                    "rewrite layout",
                                                    "annotate unroll",
                                                    "bind",
                                                    "tensorize",
                                                    "split overlapping",
                                                    "compute at a listed place"};
  static constexpr int kPrimitiveCount = std::size(kPrimitiveNames);

 private:
  bool Apply(int primitive);
  bool Done(const Status& status, std::string what);
  template <typename T>
  bool Done(const Result<T>& result, std::string what) {
    return Done(result ? Ok() : Status(result.error()), std::move(what));
  }
  bool Split(tensor::LoopId loop);
  bool Tensorize(tensor::BlockId block);
  bool Reorder(tensor::LoopId loop);
  tensor::LoopId AnyLoop();
  tensor::BlockId AnyBlock();
  tensor::LoopId AnyLoopAround(tensor::BlockId block);
  std::vector<tensor::LoopId> ChainFrom(tensor::LoopId loop);

  tensor::Program& program_;
  base::RandomStream random_;
  std::string history_;
  std::vector<int> applied_ = std::vector<int>(kPrimitiveCount);
};

}  // namespace bayloom::testing
