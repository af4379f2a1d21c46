// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

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
  TunedKernel(const tensor::Program& program, const target::Target& target,
              const OperatorData& data);

  void Run() const;
  /// What the last run computed, bytes as whole numbers.
  std::vector<float> Output() const;

 private:
  int threads_;
  int64_t output_count_ = 0;
  tensor::DType output_type_ = tensor::DType::kFloat32;  ///< or uint8
  std::vector<codegen::AlignedMemory> memory_;
  std::vector<void*> parameters_;
  codegen::AlignedMemory workspace_;
  std::unique_ptr<codegen::LoadedKernel> kernel_;
};

}  // namespace bayloom
