// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/target/target.h"

namespace bayloom::measure {

/// Programs that a machine is measured with.
class SamplePrograms {
 public:
  /// Compiles them; fails when the target is not this machine.
  static Result<SamplePrograms> Compile(const target::Target& target);

  /// Seconds that exp of a vector takes beyond a multiplication.
  double TranscendentalSeconds();
  /// Mean seconds, on one thread, that a random candidate of a convolution took to compile.
  double compile_seconds() const { return compile_seconds_; }

 private:
  SamplePrograms(codegen::LoadedKernel exponential, codegen::LoadedKernel product, double lanes,
                 double compile_seconds);

  codegen::LoadedKernel exponential_, product_;
  double lanes_, compile_seconds_;
};

}  // namespace bayloom::measure
