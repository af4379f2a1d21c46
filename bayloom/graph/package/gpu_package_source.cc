// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/gpu_package_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/gpu_network.h"
#include "bayloom/graph/package/c_names.h"

namespace bayloom::graph {
namespace {

std::string ImageSymbol(size_t variant, size_t kernel) {
  return fmt::format("{}{}_image", KernelPrefix(variant), kernel);
}

/// A place as an initializer.
std::string PlaceText(const Storage& storage) {
  const bayloom_gpu_place place = PlaceOnGpu(storage);
  constexpr const char* kNames[] = {"INPUT", "OUTPUT", "ARENA", "CONSTANT"};
  return fmt::format("{{BAYLOOM_GPU_{}, {}, {}}}", kNames[place.memory], place.position,
                     place.offset);
}

std::string KernelTable(const CompiledVariant& compiled, size_t variant) {
  std::string images, launches, kernels;
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    const codegen::KernelObject& kernel = compiled.kernels[k];
    images += fmt::format("extern const char {}[];\n", ImageSymbol(variant, k));
    launches += fmt::format("static const bayloom_gpu_launch kLaunches{}_{}[] = {{\n", variant, k);
    for (const codegen::GpuLaunch& launch : kernel.launches) {
      launches += fmt::format("    {{{}, {}, {}, {}}},\n", CString(launch.symbol), launch.blocks,
                              launch.threads, launch.shared_bytes);
    }
    launches += "    {NULL, 0, 0, 0}};\n";
    kernels += fmt::format("    {{{}, {}, kLaunches{}_{}}},\n", ImageSymbol(variant, k),
                           kernel.launches.size(), variant, k);
  }
  return images + launches +
         fmt::format(
             "static const bayloom_gpu_kernel kKernels{}[] = {{\n{}    {{NULL, 0, NULL}}}};\n",
             variant, kernels);
}

std::string CallTable(const NetworkPlan& plan, size_t variant, size_t shape) {
  const std::string id = fmt::format("{}_{}", variant, shape);
  std::string arguments, calls, copies;
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const PlannedCall& call = plan.calls[c];
    arguments += fmt::format("static const bayloom_gpu_place kArguments{}_{}[] = {{\n", id, c);
    for (const Storage& storage : call.arguments) {
      arguments += fmt::format("    {},\n", PlaceText(storage));
    }
    arguments += "    {BAYLOOM_GPU_ARENA, 0, 0}};\n";
    calls +=
        fmt::format("    {{{}, {}, kArguments{}_{}}},\n", call.task, call.arguments.size(), id, c);
  }
  for (const PlannedCopy& copy : plan.copies) {
    copies += fmt::format("    {{{}, {}, {}}},\n", PlaceText(copy.from), copy.output, copy.bytes);
  }
  return arguments +
         fmt::format("static const bayloom_gpu_call kCalls{}[] = {{\n{}    {{0, 0, NULL}}}};\n", id,
                     calls) +
         fmt::format(
             "static const bayloom_gpu_copy kCopies{}[] = {{\n{}    "
             "{{{{BAYLOOM_GPU_ARENA, 0, 0}}, 0, 0}}}};\n",
             id, copies);
}

}  // namespace

std::string ImageFile(size_t variant, size_t kernel) {
  return fmt::format("{}{}.image", KernelPrefix(variant), kernel);
}

std::string GpuTables(const CompiledVariant& compiled, size_t variant, int64_t constant_bytes) {
  std::string source = KernelTable(compiled, variant), plans;
  int64_t workspace_bytes = 0;
  for (const codegen::KernelObject& kernel : compiled.kernels) {
    workspace_bytes = std::max(workspace_bytes, kernel.shared_workspace_bytes);
  }
  for (size_t shape = 0; shape < compiled.plans.size(); ++shape) {
    const NetworkPlan& plan = compiled.plans[shape];
    source += CallTable(plan, variant, shape);
    plans += fmt::format(
        "    {{{0}, kCalls{2}_{3}, {1}, kCopies{2}_{3}, kInputBytes{3}, kOutputBytes{3}, {4}}},\n",
        plan.calls.size(), plan.copies.size(), variant, shape, plan.arena_bytes);
  }
  source += fmt::format("static const bayloom_gpu_plan kPlans{}[] = {{\n{}}};\n", variant, plans);
  return source + fmt::format(
                      "static const bayloom_gpu_network kProgram{0} = {{\n    {1}, {2}, {3}, {4}, "
                      "kKernels{0}, {5}, bayloom_constants, {6}, {7}, kPlans{0}}};\n",
                      variant, CString(compiled.target.cpu), compiled.plans[0].input_bytes.size(),
                      compiled.plans[0].output_bytes.size(), compiled.kernels.size(),
                      workspace_bytes, constant_bytes, compiled.plans.size());
}

std::string ImagesAssembly(const CompiledVariant& compiled, size_t variant) {
  std::string assembly = "  .section .rodata\n";
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    assembly += fmt::format("  .balign 64\n  .globl {0}\n{0}:\n  .incbin {1}\n  .byte 0\n",
                            ImageSymbol(variant, k), CString(ImageFile(variant, k)));
  }
  return assembly + "  .section .note.GNU-stack,\"\",%progbits\n";
}

}  // namespace bayloom::graph
