// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/kernel_values.h"

#include <fmt/format.h>

#include <cmath>

#include "bayloom/base/single_line.h"
#include "bayloom/space/evaluate_expression.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::kernel {
namespace {

/// Whole numbers beyond are no exact doubles.
constexpr double kMaxWhole = 0x1p53;
constexpr int64_t kMaxElements = int64_t{1} << 40;
/// As Kernel Tuner has it where a block's size is not tuned.
constexpr std::array<int64_t, 3> kDefaultItems = {256, 1, 1};

Error About(const std::string& what, const Error& error) {
  return Error{fmt::format("'{}': {}", base::SingleLine(what), error.message)};
}

/// The number of groups in a dimension.
Result<int64_t> GroupsOf(const search::KernelDefinition& kernel, size_t dimension,
                         const Values& values) {
  const Result<int64_t> size = WholeNumber(kernel.problem_size[dimension], values, 1);
  if (!size) return size.error();
  std::vector<std::string> divisors;
  if (const std::string& name = kernel.block_size_names[dimension]; values.contains(name)) {
    divisors.push_back(name);
  }
  if (kernel.grid_divisors[dimension]) divisors = *kernel.grid_divisors[dimension];
  double product = 1;
  for (const std::string& divisor : divisors) {
    const Result<double> value = space::EvaluateExpression(divisor, values);
    if (!value) return About(divisor, value.error());
    product *= *value;
  }
  if (!(product > 0)) return Error{"the grid divisors' product is not positive"};
  return static_cast<int64_t>(std::ceil(static_cast<double>(*size) / product));
}

}  // namespace

Values WithParameters(const Values& size, const space::Space& space,
                      const space::Configuration& configuration) {
  Values values = size;
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(configuration, i)) continue;
    values[space.parameter(i).name()] = space.ValueOf(configuration, i);
  }
  return values;
}

Result<int64_t> WholeNumber(const std::string& expression, const Values& values, int64_t least) {
  const Result<double> value = space::EvaluateExpression(expression, values);
  if (!value) return About(expression, value.error());
  if (*value != std::floor(*value) || *value < static_cast<double>(least) || *value > kMaxWhole) {
    return Error{fmt::format("'{}' is {:g}, expected a whole number of at least {}",
                             base::SingleLine(expression), *value, least)};
  }
  return static_cast<int64_t>(*value);
}

Result<std::vector<int64_t>> ShapeOf(const search::KernelArgument& argument, const Values& values) {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (const std::string& extent : argument.shape) {
    const Result<int64_t> length = WholeNumber(extent, values, 1);
    if (!length) return About(argument.text, length.error());
    if (*length > kMaxElements / elements) {
      return Error{fmt::format("'{}': too many elements", argument.text)};
    }
    elements *= *length;
    shape.push_back(*length);
  }
  return shape;
}

Result<std::string> ScalarBytes(const search::KernelArgument& argument, const Values& values) {
  std::string bytes(static_cast<size_t>(tensor::ByteSize(argument.dtype)), '\0');
  auto* const at = reinterpret_cast<std::byte*>(bytes.data());
  if (tensor::IsFloat(argument.dtype)) {
    const Result<double> value = space::EvaluateExpression(argument.low, values);
    if (!value) return About(argument.text, value.error());
    tensor::StoreFloat(argument.dtype, at, *value);
    return bytes;
  }
  const Result<int64_t> value = WholeNumber(argument.low, values, -static_cast<int64_t>(kMaxWhole));
  if (!value) return About(argument.text, value.error());
  if (tensor::WrapTo(argument.dtype, *value) != *value) {
    return Error{fmt::format("'{}': {} is out of the type's range", argument.text, *value)};
  }
  tensor::StoreInt(argument.dtype, at, *value);
  return bytes;
}

Result<LaunchGeometry> GeometryOf(const search::KernelDefinition& kernel, const Values& values) {
  LaunchGeometry geometry;
  for (size_t d = 0; d < geometry.items.size(); ++d) {
    const std::string& name = kernel.block_size_names[d];
    geometry.items[d] = kDefaultItems[d];
    if (values.contains(name)) {
      const Result<int64_t> items = WholeNumber(name, values, 1);
      if (!items) return items.error();
      geometry.items[d] = *items;
    }
    if (d >= kernel.problem_size.size()) continue;
    const Result<int64_t> groups = GroupsOf(kernel, d, values);
    if (!groups) return groups.error();
    geometry.groups[d] = *groups;
  }
  return geometry;
}

}  // namespace bayloom::kernel
