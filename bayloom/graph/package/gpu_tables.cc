// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/gpu_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bayloom/graph/gpu_network.h"

namespace bayloom::graph {
namespace {

/// A bayloom_gpu_place.
constexpr char kGpuPlaceType[] = "{ i32, i64, i64 }";

std::string GpuPlace(const Storage& storage) {
  const bayloom_gpu_place place = PlaceOnGpu(storage);
  return fmt::format("{{ i32 {}, i64 {}, i64 {} }}", static_cast<int>(place.memory), place.position,
                     place.offset);
}

std::string KernelTable(IrText& ir, const CompiledVariant& compiled, const std::string& name) {
  ir.Add(fmt::format("@{} = external constant i8\n", ImagesSymbol(name)));
  std::vector<std::string> kernels;
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    std::vector<std::string> launches;
    for (const codegen::GpuLaunch& launch : compiled.kernels[k].launches) {
      launches.push_back(fmt::format("{{ {}, i64 {}, i32 {}, i64 {} }}", ir.Chars(launch.symbol),
                                     launch.blocks, launch.threads, launch.shared_bytes));
    }
    kernels.push_back(fmt::format("{{ ptr getelementptr (i8, ptr @{}, i64 {}), i32 {}, {} }}",
                                  ImagesSymbol(name), compiled.images[k], launches.size(),
                                  ir.Table("{ ptr, i64, i32, i64 }", launches)));
  }
  return ir.Table("{ ptr, i32, ptr }", kernels);
}

std::string PlanTable(IrText& ir, const NetworkPlan& plan) {
  std::vector<std::string> calls, copies;
  for (const PlannedCall& call : plan.calls) {
    std::vector<std::string> arguments;
    for (const Storage& storage : call.arguments) arguments.push_back(GpuPlace(storage));
    calls.push_back(fmt::format("{{ i32 {}, i32 {}, {} }}", call.task, arguments.size(),
                                ir.Table(kGpuPlaceType, arguments)));
  }
  for (const PlannedCopy& copy : plan.copies) {
    copies.push_back(fmt::format("{{ {} {}, i32 {}, i64 {} }}", kGpuPlaceType, GpuPlace(copy.from),
                                 copy.output, copy.bytes));
  }
  return fmt::format("{{ i32 {}, {}, i32 {}, {}, {}, {}, i64 {} }}", calls.size(),
                     ir.Table("{ i32, i32, ptr }", calls), copies.size(),
                     ir.Table("{ { i32, i64, i64 }, i32, i64 }", copies),
                     ir.Numbers("i64", plan.input_bytes), ir.Numbers("i64", plan.output_bytes),
                     plan.arena_bytes);
}

}  // namespace

std::string GpuProgram(IrText& ir, const CompiledVariant& compiled, const std::string& name,
                       int64_t constant_bytes) {
  int64_t workspace_bytes = 0;
  for (const codegen::KernelObject& kernel : compiled.kernels) {
    workspace_bytes = std::max(workspace_bytes, kernel.shared_workspace_bytes);
  }
  std::vector<std::string> plans;
  for (const NetworkPlan& plan : compiled.plans) plans.push_back(PlanTable(ir, plan));
  const std::string network = fmt::format(
      "{{ {}, i32 {}, i32 {}, i32 {}, {}, i64 {}, ptr @{}, i64 {}, i32 {}, {} }}",
      ir.Chars(compiled.target.cpu), compiled.plans[0].input_bytes.size(),
      compiled.plans[0].output_bytes.size(), compiled.kernels.size(),
      KernelTable(ir, compiled, name), workspace_bytes, ConstantsSymbol(name), constant_bytes,
      plans.size(), ir.Table("{ i32, ptr, i32, ptr, ptr, ptr, i64 }", plans));
  return ir.Table("{ ptr, i32, i32, i32, ptr, i64, ptr, i64, i32, ptr }", {&network, 1});
}

}  // namespace bayloom::graph
