// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/kernel_data.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "bayloom/base/random.h"
#include "bayloom/kernel/array_file.h"
#include "bayloom/measure/task_memory.h"
#include "bayloom/space/evaluate_expression.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::kernel {
namespace {

using search::KernelArgument;
using search::KernelDefinition;

// Where random elements are drawn from, where a declaration does not say: signs matter, sums
// cancel. Integers are small.
constexpr double kLowFloat = -1, kHighFloat = 1;
constexpr int64_t kLowInteger = 0, kHighInteger = 9;

/// Relative errors that reordering long sums makes.
double UsualError(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kFloat16:
    case tensor::DType::kBFloat16:
      return 2e-2;
    case tensor::DType::kFloat32:
      return 1e-4;
    case tensor::DType::kFloat64:
      return 1e-10;
    default:
      return 0;
  }
}

measure::Tolerance ToleranceOf(const KernelDefinition& kernel) {
  measure::Tolerance tolerance;
  if (kernel.absolute) {
    tolerance.absolute = *kernel.absolute;
    tolerance.relative = *kernel.relative;
    return tolerance;
  }
  tolerance.of_tensor = true;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.IsArray()) {
      tolerance.relative = std::max(tolerance.relative, UsualError(argument.dtype));
    }
  }
  return tolerance;
}

/// An end of a random range, or the number that fills an array.
double NumberOf(const std::string& expression, double otherwise, const KernelArgument& argument,
                const Values& size) {
  if (expression.empty()) return otherwise;
  const Result<double> value = space::EvaluateExpression(expression, size);
  if (!value) throw InputError(fmt::format("'{}': {}", argument.text, value.error().message));
  return *value;
}

/// Writes elements one after the other.
class ElementWriter {
 public:
  ElementWriter(tensor::DType dtype, std::byte* at) : dtype_(dtype), at_(at) {}

  void WriteFloat(double value) { tensor::StoreFloat(dtype_, Next(), value); }
  void WriteInt(int64_t value) { tensor::StoreInt(dtype_, Next(), tensor::WrapTo(dtype_, value)); }
  void Write(double value) {
    if (tensor::IsFloat(dtype_)) {
      WriteFloat(value);
    } else {
      WriteInt(static_cast<int64_t>(value));
    }
  }

 private:
  std::byte* Next() { return std::exchange(at_, at_ + tensor::ByteSize(dtype_)); }

  tensor::DType dtype_;
  std::byte* at_;
};

void FillRandomly(const KernelArgument& argument, int64_t elements, const Values& size,
                  base::RandomStream random, std::byte* at) {
  ElementWriter writer(argument.dtype, at);
  if (tensor::IsFloat(argument.dtype)) {
    const double low = NumberOf(argument.low, kLowFloat, argument, size);
    const double high = NumberOf(argument.high, kHighFloat, argument, size);
    for (int64_t i = 0; i < elements; ++i) {
      writer.WriteFloat(low + (high - low) * random.Uniform());
    }
    return;
  }
  const bool is_bool = argument.dtype == tensor::DType::kBool;
  const auto low = static_cast<int64_t>(NumberOf(argument.low, kLowInteger, argument, size));
  const auto high =
      static_cast<int64_t>(NumberOf(argument.high, is_bool ? 1 : kHighInteger, argument, size));
  if (high < low) throw InputError(fmt::format("'{}': the range is empty", argument.text));
  for (int64_t i = 0; i < elements; ++i) writer.WriteInt(low + random.UniformInt(high - low + 1));
}

void FillArray(const KernelArgument& argument, int64_t elements, const Values& size,
               base::RandomStream random, std::byte* at) {
  ElementWriter writer(argument.dtype, at);
  switch (argument.fill) {
    case KernelArgument::Fill::kRandom:
      return FillRandomly(argument, elements, size, random, at);
    case KernelArgument::Fill::kFile: {
      const std::string content = ReadArrayFile(argument.file, argument.dtype, elements);
      std::memcpy(at, content.data(), content.size());
      return;
    }
    case KernelArgument::Fill::kRange:
      for (int64_t i = 0; i < elements; ++i) writer.Write(static_cast<double>(i));
      return;
    case KernelArgument::Fill::kNumber: {
      const double value = NumberOf(argument.low, 0, argument, size);
      for (int64_t i = 0; i < elements; ++i) writer.Write(value);
      return;
    }
  }
}

}  // namespace

KernelData::KernelData(const KernelDefinition& kernel, const Values& size) {
  Describe(kernel, size);
  measure::AllocateTaskMemory(task_);
  Fill(kernel, size);
}

KernelData::~KernelData() {
  if (task_.descriptor >= 0) close(task_.descriptor);
}

void KernelData::Describe(const KernelDefinition& kernel, const Values& size) {
  measure::TaskMessage& message = task_.message;
  message.tolerance = ToleranceOf(kernel);
  const auto reserve = [&](const measure::TaskParameter& parameter) {
    return std::exchange(message.data_bytes,
                         message.data_bytes + measure::WholePages(parameter.ByteCount()));
  };
  for (const KernelArgument& argument : kernel.arguments) {
    arrays_.push_back(argument.IsArray() ? static_cast<int>(message.parameters.size()) : -1);
    if (!argument.IsArray()) continue;
    Result<std::vector<int64_t>> shape = ShapeOf(argument, size);
    if (!shape) throw InputError(shape.error().message);
    const bool is_input = argument.role == KernelArgument::Role::kIn;
    measure::TaskParameter& parameter = message.parameters.emplace_back();
    parameter.name = argument.name;
    parameter.dtype = argument.dtype;
    parameter.role = is_input ? tensor::BufferRole::kInput : tensor::BufferRole::kOutput;
    parameter.shape = *std::move(shape);
    parameter.offset = reserve(parameter);
    if (argument.role == KernelArgument::Role::kInOut)
      parameter.initial_offset = reserve(parameter);
    parameter.is_checked = kernel.reference == KernelDefinition::Reference::kFiles
                               ? kernel.reference_files.contains(argument.name)
                               : kernel.reference != KernelDefinition::Reference::kNone;
  }
}

void KernelData::Fill(const KernelDefinition& kernel, const Values& size) {
  const measure::TaskMemoryView memory(task_);
  base::RandomStream random(kernel.data_seed);
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    const base::RandomStream own = random.Fork();
    if (arrays_[i] < 0) continue;
    const measure::TaskParameter& parameter = task_.message.parameters[arrays_[i]];
    const int64_t elements = parameter.ElementCount();
    const bool is_output = parameter.role == tensor::BufferRole::kOutput;
    const int64_t content = is_output ? parameter.initial_offset : parameter.offset;
    if (content >= 0) FillArray(argument, elements, size, own, memory.at(content));
    if (const auto file = kernel.reference_files.find(argument.name);
        file != kernel.reference_files.end()) {
      const std::string expected = ReadArrayFile(file->second, argument.dtype, elements);
      std::memcpy(memory.at(parameter.offset), expected.data(), expected.size());
    }
  }
}

}  // namespace bayloom::kernel
