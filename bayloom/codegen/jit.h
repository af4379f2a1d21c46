// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"

namespace bayloom::codegen {

/// A compiled program loaded into this process, its parallel loops running on this process's
/// thread pool (codegen/runtime/bayloom_runtime.h). The code lives as long as this object.
///
///     Result<LoadedKernel> kernel = LoadedKernel::Load(*CompileProgram(program, target, "f"));
///     (*kernel)(parameters, workspace);
class LoadedKernel {
 public:
  /// Fails when the object is not one of this machine or needs a symbol that is not here. Of a
  /// shared library (shared_library.h) the system's loader does it; without the compiler, only
  /// that.
  static Result<LoadedKernel> Load(const KernelObject& kernel);

  LoadedKernel(LoadedKernel&&) noexcept;
  LoadedKernel& operator=(LoadedKernel&&) noexcept;
  ~LoadedKernel();

  void operator()(void* const* parameters, void* workspace) const {
    function_(parameters, workspace);
  }
  KernelFunction function() const { return function_; }
  /// Of KernelForm::kSteps, as the runtime takes them; not of shared libraries.
  const std::vector<bayloom_kernel_step>& steps() const { return steps_; }

 private:
  struct Code;
  LoadedKernel(std::unique_ptr<Code> code, KernelFunction entry);

  std::unique_ptr<Code> code_;
  KernelFunction function_ = nullptr;
  std::vector<bayloom_kernel_step> steps_;
};

}  // namespace bayloom::codegen
