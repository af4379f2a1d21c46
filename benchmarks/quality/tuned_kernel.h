#pragma once

#include <memory>
#include <vector>

#include "bayloom/codegen/jit.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "benchmarks/quality/operators.h"

namespace bayloom {

/// A program compiled into this process with its data in place: constants packed, buffers aligned.
class TunedKernel {
 public:
  TunedKernel(const Program& program, const Target& target, const OperatorData& data);

  void Run() const;
  std::vector<float> Output() const;

 private:
  int threads_;
  int64_t output_count_ = 0;
  std::vector<AlignedMemory> memory_;
  std::vector<void*> parameters_;
  AlignedMemory workspace_;
  std::unique_ptr<LoadedKernel> kernel_;
};

}  // namespace bayloom
