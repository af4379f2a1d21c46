// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/base/single_line.h"
#include "bayloom/measure/kernel_launcher.h"

namespace bayloom::measure {
namespace {

/// A function of a shared library of this processor.
class FunctionLauncher final : public KernelLauncher {
 public:
  FunctionLauncher(const KernelCall& call, std::span<const GuardedMemory> memory) : call_(call) {
    for (const CallArgument& argument : call_.arguments) {
      arguments_.push_back(argument.parameter >= 0
                               ? memory[argument.parameter].data()
                               : static_cast<void*>(const_cast<char*>(argument.scalar.data())));
    }
    // It stays: its threads (of OpenMP, for example) may wait in it for the next call.
    void* const library = dlopen(call_.code.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) Fail(dlerror());
    void* const symbol = dlsym(library, call_.symbol.c_str());
    if (symbol == nullptr) Fail(dlerror());
    function_ = reinterpret_cast<Function>(symbol);
  }

  double Time(int64_t count) override {
    double returned = 0;
    const double start = base::MonotonicSeconds();
    for (int64_t i = 0; i < count; ++i) returned += function_(arguments_.data());
    const double seconds = base::MonotonicSeconds() - start;
    return call_.returned_unit > 0 ? returned * call_.returned_unit : seconds;
  }

 private:
  using Function = double (*)(void* const*);

  [[noreturn]] static void Fail(const char* reason) {
    throw LaunchError(trial::Verdict::kBuildError,
                      fmt::format("cannot be loaded: {}", base::SingleLine(reason)));
  }

  KernelCall call_;
  std::vector<void*> arguments_;
  Function function_ = nullptr;
};

}  // namespace

std::unique_ptr<KernelLauncher> MakeFunctionLauncher(const KernelCall& call,
                                                     std::span<const GuardedMemory> memory) {
  return std::make_unique<FunctionLauncher>(call, memory);
}

}  // namespace bayloom::measure
