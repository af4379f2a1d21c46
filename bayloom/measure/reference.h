// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bayloom/base/result.h"
#include "bayloom/measure/protocol.h"
#include "bayloom/measure/runner.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// What the reason of a failure to make a reference begins with.
inline constexpr char kNoReference[] = "the reference could not be computed: ";

/// Compiles a program that computes what others are compared with, when it is needed; fails where
/// it cannot be compiled.
using ReferenceKernel = std::function<Result<TrialMessage>()>;

/// A task's input data and the results that every program of it must compute, in shared memory.
///
/// The results are those of a default program (reference_programs.h), run in a runner process; a
/// sample of their elements is compared with the workload's definition, evaluated without a
/// compiler.
class Reference {
 public:
  /// Takes the first of the kernels that computes what the definition says; fails when there is
  /// none: an error in this compiler. Same seed, same data. Throws SystemError where there is no
  /// memory for the data, and Interrupted.
  static Result<Reference> Make(const tensor::Workload& workload,
                                std::span<const ReferenceKernel> kernels, Runner& runner,
                                uint64_t seed, const StopCheck& stop = {});
  Reference(Reference&& other) noexcept { *this = std::move(other); }
  Reference& operator=(Reference&& other) noexcept;
  ~Reference();

  const TaskData& data() const { return data_; }
  int64_t data_bytes() const { return data_.message.data_bytes; }
  /// Time of the one run of the reference program: what not tuning at all costs, roughly.
  double seconds() const { return seconds_; }

 private:
  Reference() = default;

  TaskData data_;
  double seconds_ = 0;
};

}  // namespace bayloom::measure
