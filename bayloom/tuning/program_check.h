// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {
class Measurer;
}  // namespace bayloom::measure

namespace bayloom::tuning {

/// Builds programs that were never measured, runs each once and compares what it computes with the
/// default program's results, as trials do, in processes of their own. Nothing is timed.
class ProgramCheck {
 public:
  /// The target must be this machine.
  explicit ProgramCheck(const target::Target& target);
  ~ProgramCheck();

  /// Fails where the program cannot be built, crashes or computes something else. What cannot be
  /// told (there is no reference, or the time is over) is no failure. Throws SystemError where no
  /// process can be started.
  Status Check(const tensor::Workload& workload, const tensor::Program& program);

 private:
  std::unique_ptr<measure::Measurer> measurer_;
};

}  // namespace bayloom::tuning
