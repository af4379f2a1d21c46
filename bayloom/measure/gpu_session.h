// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/runtime/bayloom_cuda.h"
#include "bayloom/measure/resource_usage.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

/// The driver refused something, or a kernel failed. After the latter the GPU is of no use to the
/// process.
class GpuError : public std::runtime_error {
 public:
  GpuError(trial::Verdict verdict, const std::string& what)
      : std::runtime_error(what), verdict_(verdict) {}
  trial::Verdict verdict() const { return verdict_; }

 private:
  trial::Verdict verdict_;
};

/// A parameter of a kernel, and its content here: what is uploaded, or where it is downloaded to.
struct GpuBuffer {
  std::string name;
  std::byte* host = nullptr;
  int64_t bytes = 0;
  bool is_output = false;
  uint64_t content = 0;  ///< of inputs: what has the same number is the same and stays where it is
};

/// What NVIDIA's management library says of the GPU; zeros where there is none.
struct GpuState {
  double clock_mhz = 0;
  double power_watts = 0;
};

/// The GPU, owned by a runner process: its context, a stream, and the buffers of one task with
/// canaries on both sides. Members throw GpuError.
class GpuSession {
 public:
  /// Functions in the order in which they are launched.
  struct Kernel {
    struct Launch {
      bayloom_cu_function function = nullptr;
      unsigned blocks = 1, threads = 1, shared_bytes = 0;
      codegen::GpuLaunch compiled;  ///< which says what blocks other sizes need
    };
    std::vector<Launch> launches;
    ResourceUsage use;  ///< as the driver says of what it has loaded
  };

  GpuSession();
  ~GpuSession();
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;

  /// Loads a program in place of the one before, and makes its buffers with the inputs in them;
  /// those of the program before that are the same are kept. Throws, too, where what the driver
  /// made of it need not be run (RefusalOf).
  Kernel Load(const codegen::KernelObject& object, const std::vector<GpuBuffer>& buffers);
  /// Launches from here on are for these values of the sizes: the first buffers, which have them.
  void SetSizes(Kernel& kernel, const std::vector<GpuBuffer>& buffers,
                std::span<const int64_t> sizes);
  void Fill(size_t buffer, std::byte value);
  void FillWorkspace(std::byte value);
  /// Runs all launches so many times and returns the seconds of all of them by the clock of the
  /// GPU. The first time, from a graph of them; where the driver makes none, one by one. With
  /// `flush`, after the second-level cache was filled with other data.
  double TimeLaunches(const Kernel& kernel, int64_t count, bool flush);
  /// Copies the outputs to where the buffers say.
  void Download(const std::vector<GpuBuffer>& buffers);
  /// Fails if something wrote beside a buffer.
  Status CheckOverrun(const std::vector<GpuBuffer>& buffers);
  /// Frees the program and all buffers: what wrote where it should not may have changed inputs.
  void Free();
  GpuState state() const;

 private:
  struct Memory {
    bayloom_cu_pointer base = 0;  ///< of the canary before
    int64_t bytes = 0;            ///< without canaries
    uint64_t content = 0;         ///< as the buffer says
    bayloom_cu_pointer data() const;
  };

  void Check(int code, const char* what) const;
  /// What the driver says of a launch's kernel; `spills`: its memory is for what it spills.
  void AskUse(const Kernel::Launch& launch, bool spills, codegen::GpuLaunch& described) const;
  Memory Allocate(int64_t bytes);
  void Release(Memory& memory);
  void ReleaseUnlessFits(Memory& memory, const GpuBuffer& buffer);
  void Unload();
  /// Memory for a buffer, with its content if it is an input.
  void Provide(Memory& memory, const GpuBuffer& buffer);
  void Launch(const Kernel& kernel);
  /// A graph of so many runs; null where there can be none.
  bayloom_cu_graph_exec GraphOf(const Kernel& kernel, int64_t count);
  void DropGraph();
  Status CheckCanaries(const Memory& memory, const std::string& name);

  const bayloom_cuda* cuda_ = nullptr;
  bayloom_cu_device device_ = 0;
  bayloom_cu_context context_ = nullptr;
  bayloom_cu_stream stream_ = nullptr;
  bayloom_cu_event begin_ = nullptr, end_ = nullptr;
  bayloom_cu_module module_ = nullptr;
  bayloom_cu_graph_exec graph_ = nullptr;
  int64_t graph_count_ = 0;  ///< runs in the graph
  std::vector<Memory> memory_;
  Memory workspace_;
  bayloom_cu_pointer rubbish_ = 0;  ///< twice as large as the cache
  size_t rubbish_bytes_ = 0;
  void* nvml_device_ = nullptr;
};

}  // namespace bayloom::measure
