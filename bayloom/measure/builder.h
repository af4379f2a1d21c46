#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/target.h"

namespace bayloom {

struct Build {
  std::optional<KernelObject> kernel;
  std::string error;   ///< why there is no kernel
  double seconds = 0;  ///< on one thread
};

/// Compiles programs for a target, several at a time. The time of one compilation is bounded by
/// the size that code generation accepts.
class Builder {
 public:
  /// `threads`: 0 for one per hardware thread.
  explicit Builder(Target target, int threads = 0)
      : target_(std::move(target)), threads_(threads) {}

  const Target& target() const { return target_; }
  /// One result per program, in their order.
  std::vector<Build> BuildAll(std::span<const Program* const> programs);

 private:
  Target target_;
  ThreadPool threads_;
};

}  // namespace bayloom
