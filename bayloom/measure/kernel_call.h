// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bayloom/measure/channel.h"

namespace bayloom::measure {

/// An argument of a user's kernel.
struct CallArgument {
  int parameter = -1;       ///< place among the task's parameters; -1: none of them
  std::string scalar;       ///< the bytes of one that is passed by value
  int64_t local_bytes = 0;  ///< of local memory that a group of work items gets
};

/// How a user's kernel is called: by its own arguments, and not as code that was
/// generated here (codegen/abi.h).
struct KernelCall {
  enum class Kind : uint8_t {
    kNone,      ///< it is no such kernel
    kFunction,  ///< a function of a shared library, `double(void* const* arguments)`; see returned
    kOpenCl,
  };

  Kind kind = Kind::kNone;
  /// Of a function the path of its library; of OpenCL the source.
  std::string code;
  std::string symbol;
  std::vector<CallArgument> arguments;
  /// Where the function returns how long it took by its own clock: seconds of its unit. 0: it does
  /// not, and is timed from outside.
  double returned_unit = 0;

  // OpenCL.
  std::string build_options;
  int platform = 0, device = 0;
  std::array<int64_t, 3> groups = {1, 1, 1};  ///< of work items
  std::array<int64_t, 3> items = {1, 1, 1};   ///< in a group
};

template <>
inline constexpr std::tuple kFields<CallArgument> = {
    &CallArgument::parameter, &CallArgument::scalar, &CallArgument::local_bytes};
template <>
inline constexpr std::tuple kFields<KernelCall> = {
    &KernelCall::kind,      &KernelCall::code,          &KernelCall::symbol,
    &KernelCall::arguments, &KernelCall::returned_unit, &KernelCall::build_options,
    &KernelCall::platform,  &KernelCall::device,        &KernelCall::groups,
    &KernelCall::items};

}  // namespace bayloom::measure
