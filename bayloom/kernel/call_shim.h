// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/search/kernel_definition.h"

namespace bayloom::kernel {

/// The function of a kernel's library that the runner calls (measure::KernelCall::kFunction).
inline constexpr const char* kShimSymbol = "bayloom_call";

/// A function that stands in a source of C, C++ or Fortran and has the arguments of a kernel.
struct KernelFunction {
  search::KernelDefinition::Language language = search::KernelDefinition::Language::kC;
  std::string source;  ///< absolute path
  std::string name;    ///< in C++ also that of a template's instance, "scale<float>"
  bool returns_time = false;
};

/// The source, of C or C++, of kShimSymbol, which unpacks the arguments and calls the function; -1
/// if it returns no time. Of C and C++ it includes the function's source, so that the compiler
/// checks the call. A Fortran function is found by its name with bind(C), as an external procedure
/// or in a module; it gets all arguments by reference but scalars that the source declares with
/// `value`, and returns its time as real(c_float). Throws InputError where the source cannot be
/// read.
std::string ShimOf(const KernelFunction& function, const search::KernelDefinition& kernel);

}  // namespace bayloom::kernel
