// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/base/result.h"
#include "bayloom/measure/builder.h"
#include "bayloom/measure/runner.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// What the reason of a failure to make a reference begins with.
inline constexpr char kNoReference[] = "the reference could not be computed: ";

/// A task's input data and the results that every program of it must compute, in shared memory.
///
/// The results are those of a plainly scheduled program, run in a runner process; a sample of
/// their elements is compared with the workload's definition, evaluated without a compiler.
class Reference {
 public:
  /// Fails when no program of the workload computes what the definition says: an error in this
  /// compiler. Same seed, same data. Throws SystemError where there is no memory for the data, and
  /// Interrupted.
  static Result<Reference> Make(const tensor::Workload& workload, Builder& builder, Runner& runner,
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
