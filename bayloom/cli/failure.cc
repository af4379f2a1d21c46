// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/failure.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "bayloom/base/memory_advice.h"
#include "bayloom/base/option_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/write_ignoring_sigpipe.h"
#include "bayloom/cli/commands.h"

namespace bayloom::cli {
namespace {

template <typename Type>
bool Is(const std::exception& error) {
  return dynamic_cast<const Type*>(&error) != nullptr;
}

std::terminate_handler usual_end = nullptr;
std::atomic<bool> memory_ran_out = false;

/// Where an exception ends the process, whether it is that memory ran out. A function that catches
/// other exceptions only leaves none to ask.
bool IsLackOfMemory(const std::exception_ptr& error) {
  if (error == nullptr) return memory_ran_out;
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Allocates nothing.
[[noreturn]] void End() {
  if (IsLackOfMemory(std::current_exception())) {
    constexpr std::string_view kLine = "bayloom: out of memory\n";
    base::WriteIgnoringSigpipe(STDERR_FILENO, kLine.data(), kLine.size());
    _exit(kFailed);
  }
  usual_end();
  std::abort();
}

}  // namespace

Failure Explain(const std::exception& error) {
  if (Is<OptionError>(error)) return {kBadInput, "--" + std::string(error.what())};
  if (Is<InputError>(error)) return {kBadInput, error.what()};
  if (Is<NotInThisBuild>(error)) return {kNotInThisBuild, error.what()};
  if (Is<CheckFailed>(error) || Is<SystemError>(error) || Is<std::system_error>(error)) {
    return {kFailed, error.what()};
  }
  if (Is<std::bad_alloc>(error)) return {kFailed, "out of memory; " + base::MemoryAdvice()};
  return {kFailed, fmt::format("internal error: {}; please report this", error.what())};
}

void ExplainLackOfMemory() {
  std::set_new_handler([] {
    memory_ran_out = true;
    throw std::bad_alloc();
  });
  const std::terminate_handler before = std::set_terminate(End);
  if (before != End) usual_end = before;
}

}  // namespace bayloom::cli
