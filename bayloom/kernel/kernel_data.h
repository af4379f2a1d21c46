// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/kernel/kernel_values.h"
#include "bayloom/measure/runner.h"
#include "bayloom/search/kernel_definition.h"

namespace bayloom::kernel {

/// The arrays of a kernel for one of its sizes, filled as its arguments say, in shared memory; and
/// room for the results that are expected.
class KernelData {
 public:
  /// Throws InputError where a shape has no value or a file does not fit, SystemError where there
  /// is no memory.
  KernelData(const search::KernelDefinition& kernel, const Values& size);
  ~KernelData();
  KernelData(const KernelData&) = delete;
  KernelData& operator=(const KernelData&) = delete;

  const measure::TaskData& task() const { return task_; }
  /// Of the task's arrays, the place of an argument; -1 for other arguments.
  int ArrayOf(size_t argument) const { return arrays_[argument]; }

 private:
  void Describe(const search::KernelDefinition& kernel, const Values& size);
  void Fill(const search::KernelDefinition& kernel, const Values& size);

  measure::TaskData task_;
  std::vector<int> arrays_;
};

}  // namespace bayloom::kernel
