// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/failure.h"

#include <fmt/core.h>

#include <new>
#include <system_error>

#include "bayloom/base/memory_advice.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/cli/internal/commands.h"

namespace bayloom::cli {
namespace {

template <typename Type>
bool Is(const std::exception& error) {
  return dynamic_cast<const Type*>(&error) != nullptr;
}

}  // namespace

Failure Explain(const std::exception& error) {
  if (Is<InputError>(error)) return {kBadInput, error.what()};
  if (Is<NotInThisBuild>(error)) return {kNotInThisBuild, error.what()};
  if (Is<CheckFailed>(error) || Is<SystemError>(error) || Is<std::system_error>(error)) {
    return {kFailed, error.what()};
  }
  if (Is<std::bad_alloc>(error)) return {kFailed, "out of memory; " + base::MemoryAdvice()};
  return {kFailed, fmt::format("internal error: {}; please report this", error.what())};
}

}  // namespace bayloom::cli
