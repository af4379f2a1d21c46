// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/search/kernel_definition.h"
#include "bayloom/space/space.h"

namespace bayloom::kernel {

/// What a kernel's expressions may name, with its values: sizes and parameters.
using Values = std::map<std::string, space::Value>;

/// The values of a configuration's active parameters, beside those of a size.
Values WithParameters(const Values& size, const space::Space& space,
                      const space::Configuration& configuration);

/// The value of an expression; fails where it has none or is no whole number of at least `least`.
Result<int64_t> WholeNumber(const std::string& expression, const Values& values, int64_t least);

/// The lengths of an array's dimensions; fails as WholeNumber, and where there are too many
/// elements to be counted.
Result<std::vector<int64_t>> ShapeOf(const search::KernelArgument& argument, const Values& values);

/// The bytes of a scalar argument.
Result<std::string> ScalarBytes(const search::KernelArgument& argument, const Values& values);

/// How a kernel is spread over a device, in x, y and z.
struct LaunchGeometry {
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::array<int64_t, 3> items = {1, 1, 1};  ///< of a group
};

/// The geometry that Kernel Tuner gives a kernel: groups of the sizes that the block names have
/// (256, 1 and 1 where they name nothing), and in each dimension the problem's size divided by all
/// of its grid divisors, rounded up.
Result<LaunchGeometry> GeometryOf(const search::KernelDefinition& kernel, const Values& values);

}  // namespace bayloom::kernel
