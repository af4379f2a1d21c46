// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/measure/channel.h"
#include "bayloom/tensor/program.h"

namespace bayloom::measure {

/// What a compilation is, and what stands for it in a test.
using Compile = std::function<Result<codegen::KernelObject>(const tensor::Program&)>;

/// What several workers of one batch share: which program is the next to be compiled. In memory
/// that stays shared when the process forks.
class BuildQueue {
 public:
  static Result<BuildQueue> Make();
  BuildQueue(BuildQueue&& other) noexcept { std::swap(next_, other.next_); }
  BuildQueue& operator=(BuildQueue&&) = delete;
  ~BuildQueue();

  /// Takes the next program out. Of use to several processes at a time.
  int64_t Take() { return (*next_)++; }
  /// How many have been taken out, or more.
  int64_t taken() const { return *next_; }

 private:
  BuildQueue() = default;
  std::atomic<int64_t>* next_ = nullptr;
};

/// What a worker says of itself.
struct BuildReport {
  enum class Event : uint8_t {
    kBegan,  ///< it compiles the program with this index
    kBuilt,  ///< it is done with it
    kEnded,  ///< it is gone: in order if it was not compiling, else it died
  };
  Event event = Event::kEnded;
  int64_t index = -1;
  std::optional<codegen::KernelObject> kernel;
  std::string error;   ///< why there is no kernel
  double seconds = 0;  ///< that compiling took
};

/// How a BuildWorker ended.
struct BuildWorkerEnd {
  std::string description;  ///< with the first line that it wrote to standard error
  /// Neither it nor who started it sent the SIGKILL that ended it: memory ran out.
  bool was_killed_by_system = false;
};

/// A process that compiles programs: a fork of this one, so that it has them without being told,
/// and that a compiler's abort, crash or hang ends it and not the tuner.
///
/// Forking with threads around is safe as long as none of them is within the compiler: the child
/// uses nothing else that they may have locked.
class BuildWorker {
 public:
  /// Starts compiling what it takes out of the queue, until that is empty.
  static Result<BuildWorker> Start(std::span<const tensor::Program* const> programs,
                                   BuildQueue& queue, const Compile& compile);
  BuildWorker(BuildWorker&& other) noexcept { *this = std::move(other); }
  BuildWorker& operator=(BuildWorker&& other) noexcept;
  /// Kills it if it still runs.
  ~BuildWorker();

  /// Readable when there is something to receive.
  int descriptor() const { return channel_.descriptor(); }
  BuildReport Receive();
  void Kill();
  /// Waits for its end.
  BuildWorkerEnd Wait();

 private:
  BuildWorker() = default;

  pid_t pid_ = -1;
  Channel channel_;
  int standard_error_ = -1;  ///< a file in memory
  bool was_killed_ = false;  ///< by Kill, while it ran
  bool has_closed_ = false;  ///< its end of the channel
};

}  // namespace bayloom::measure
