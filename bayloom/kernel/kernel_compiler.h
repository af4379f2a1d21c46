// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bayloom/base/scratch_folder.h"
#include "bayloom/kernel/call_shim.h"
#include "bayloom/kernel/kernel_values.h"
#include "bayloom/search/evaluator_options.h"
#include "bayloom/space/space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::kernel {

/// What became of a compilation.
struct CompiledKernel {
  std::string library;  ///< path of a shared library; empty: it failed
  trial::Verdict verdict = trial::Verdict::kOk;
  std::string reason;
  double seconds = 0;
};

/// Compiles kernels of C, C++ and Fortran, each in a guarded process with the evaluator's limits.
/// What was compiled before is not compiled again. May be called in several threads.
class KernelCompiler {
 public:
  KernelCompiler(std::shared_ptr<const space::Space> space,
                 const search::EvaluatorOptions& options);

  /// nullopt if it was asked to stop. Throws InputError where there is no such compiler, or the
  /// source cannot be read.
  std::optional<CompiledKernel> Compile(const KernelFunction& function,
                                        const space::Configuration& configuration,
                                        const Values& size, const std::stop_token& stop);

  /// The macros of a configuration by name; fails where an expression has no value.
  Result<std::vector<std::pair<std::string, std::string>>> Macros(
      const space::Configuration& configuration, const Values& size) const;
  /// The flags with a configuration's values in them.
  std::vector<std::string> Flags(const space::Configuration& configuration) const;

 private:
  Result<std::vector<std::string>> CommandOf(const KernelFunction& function,
                                             const space::Configuration& configuration,
                                             const Values& size) const;
  std::optional<CompiledKernel> Run(std::vector<std::string> command, const std::string& shim,
                                    bool is_cpp, const std::stop_token& stop);

  std::shared_ptr<const space::Space> space_;
  search::EvaluatorOptions options_;
  std::vector<bool> is_macro_;  ///< by parameter
  base::ScratchFolder folder_;
  std::mutex mutex_;                             ///< guards what follows
  std::map<std::string, CompiledKernel> known_;  ///< by command and shim
  int64_t compiled_ = 0;
};

}  // namespace bayloom::kernel
