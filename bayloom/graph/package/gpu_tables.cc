// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/gpu_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bayloom/graph/gpu_network.h"

namespace bayloom::graph {
namespace {

// Types of codegen/runtime/bayloom_gpu.h.
constexpr char kGpuPlaceType[] = "{ i32, i64, i64, ptr, i64 }";
constexpr char kGpuReachType[] = "{ i64, i64, i64, i64, i64 }";
constexpr char kGpuLaunchType[] = "{ ptr, i64, i32, i64, i64, i64, i64, ptr }";
constexpr char kGpuCallType[] = "{ i32, i32, ptr }";
constexpr char kGpuSmallCallType[] = "{ ptr, i64, { i32, i32, ptr } }";
constexpr char kGpuPlannedCallType[] = "{ { i32, i32, ptr }, i64, ptr }";
constexpr char kGpuCopyType[] = "{ { i32, i64, i64, ptr, i64 }, i32, i64 }";
constexpr char kGpuOpenTensorType[] = "{ i64, { i32, i64, i64, ptr, i64 }, i64, ptr, ptr, i64 }";
constexpr char kGpuPlanType[] =
    "{ i32, ptr, i32, ptr, ptr, ptr, i64, i64, i64, ptr, i64, ptr, i64, ptr }";

std::string GpuLaunchText(IrText& ir, const codegen::GpuLaunch& launch) {
  std::vector<std::string> reaches;
  for (const codegen::GridReach& reach : launch.reaches) {
    reaches.push_back(fmt::format("{{ i64 {}, i64 {}, i64 {}, i64 {}, i64 {} }}", reach.most,
                                  reach.size, reach.before, reach.step, reach.or_next ? 1 : 0));
  }
  return fmt::format("{{ {}, i64 {}, i32 {}, i64 {}, i64 {}, i64 {}, i64 {}, {} }}",
                     ir.Chars(launch.symbol), launch.blocks, launch.threads, launch.shared_bytes,
                     launch.block_share, launch.fixed_iterations, reaches.size(),
                     ir.Table(kGpuReachType, reaches));
}

std::string KernelTable(IrText& ir, const CompiledVariant& compiled, const std::string& name) {
  ir.Add(fmt::format("@{} = external constant i8\n", ImagesSymbol(name)));
  std::vector<std::string> kernels;
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    std::vector<std::string> launches;
    for (const codegen::GpuLaunch& launch : compiled.kernels[k].launches) {
      launches.push_back(GpuLaunchText(ir, launch));
    }
    kernels.push_back(fmt::format("{{ ptr getelementptr (i8, ptr @{}, i64 {}), i32 {}, {} }}",
                                  ImagesSymbol(name), compiled.images[k], launches.size(),
                                  ir.Table(kGpuLaunchType, launches)));
  }
  return ir.Table("{ ptr, i32, ptr }", kernels);
}

/// What is done for one shape.
class GpuPlanText {
 public:
  GpuPlanText(IrText& ir, const NetworkPlan& plan) : ir_(ir), plan_(plan) {}

  std::string Text() {
    std::vector<std::string> calls, copies, sizes;
    for (size_t c = 0; c < plan_.calls.size(); ++c) calls.push_back(PlannedCallOf(c));
    for (const PlannedCopy& copy : plan_.copies) {
      copies.push_back(fmt::format("{{ {} {}, i32 {}, i64 {} }}", kGpuPlaceType, Place(copy.from),
                                   copy.output, copy.bytes));
    }
    for (const PlannedSize& size : plan_.sizes) sizes.push_back(Pointer(size.length));
    return fmt::format(
        "{{ i32 {}, {}, i32 {}, {}, {}, {}, i64 {}, i64 {}, i64 {}, {}, {}, {} }}", calls.size(),
        ir_.Table(kGpuPlannedCallType, calls), copies.size(), ir_.Table(kGpuCopyType, copies),
        ir_.Numbers("i64", WholeBytes(plan_.input_bytes, plan_.open_inputs)),
        ir_.Numbers("i64", WholeBytes(plan_.output_bytes, plan_.open_outputs)), plan_.arena_bytes,
        plan_.symbols.size(), sizes.size(), ir_.Table("ptr", sizes), OpenTensors(plan_.open_inputs),
        OpenTensors(plan_.open_outputs));
  }

 private:
  /// As an element of a table of pointers, which is without its type.
  std::string Pointer(const Length& length) { return ir_.Length(length).substr(4); }

  std::string Place(const Storage& storage) {
    const bayloom_gpu_place place = PlaceOnGpu(plan_, storage);
    const bool is_state = place.memory == BAYLOOM_GPU_STATE;
    return fmt::format("{{ i32 {}, i64 {}, i64 {}, {}, i64 {} }}", static_cast<int>(place.memory),
                       place.position, place.offset,
                       is_state ? ir_.Length(storage.rows) : "ptr null", place.row_bytes);
  }

  std::string CallOf(const PlannedCall& call) {
    std::vector<std::string> arguments;
    for (const Storage& storage : call.arguments) arguments.push_back(Place(storage));
    return fmt::format("{{ i32 {}, i32 {}, {} }}", call.task, arguments.size(),
                       ir_.Table(kGpuPlaceType, arguments));
  }

  std::string PlannedCallOf(size_t number) {
    std::vector<std::string> small;
    if (!plan_.small_calls.empty()) {
      for (const SmallCall& call : plan_.small_calls[number]) {
        small.push_back(fmt::format("{{ {}, i64 {}, {} {} }}", ir_.Length(call.size), call.up_to,
                                    kGpuCallType, CallOf(call.call)));
      }
    }
    return fmt::format("{{ {} {}, i64 {}, {} }}", kGpuCallType, CallOf(plan_.calls[number]),
                       small.size(), ir_.Table(kGpuSmallCallType, small));
  }

  /// How many, and where they are.
  std::string OpenTensors(const std::vector<OpenTensor>& tensors) {
    std::vector<std::string> tables;
    for (const OpenTensor& tensor : tensors) {
      std::vector<std::string> lengths;
      for (const Length& length : tensor.lengths) lengths.push_back(Pointer(length));
      tables.push_back(fmt::format("{{ i64 {}, {} {}, i64 {}, {}, {}, i64 {} }}", tensor.position,
                                   kGpuPlaceType, Place(tensor.network), tensor.extents.size(),
                                   ir_.Table("ptr", lengths), ir_.Numbers("i64", tensor.extents),
                                   tensor.element_bytes));
    }
    return fmt::format("i64 {}, {}", tables.size(), ir_.Table(kGpuOpenTensorType, tables));
  }

  IrText& ir_;
  const NetworkPlan& plan_;
};

}  // namespace

std::string GpuProgram(IrText& ir, const CompiledVariant& compiled, const std::string& name,
                       int64_t constant_bytes) {
  int64_t workspace_bytes = 0;
  for (const codegen::KernelObject& kernel : compiled.kernels) {
    workspace_bytes = std::max(workspace_bytes, kernel.shared_workspace_bytes);
  }
  std::vector<std::string> plans;
  int64_t state_bytes = 0;
  for (const NetworkPlan& plan : compiled.plans) {
    plans.push_back(GpuPlanText(ir, plan).Text());
    state_bytes = std::max(state_bytes, plan.state_bytes);
  }
  const std::string network = fmt::format(
      "{{ {}, i32 {}, i32 {}, i32 {}, {}, i64 {}, i64 {}, ptr @{}, i64 {}, i32 {}, {} }}",
      ir.Chars(compiled.target.cpu), compiled.plans[0].input_bytes.size(),
      compiled.plans[0].output_bytes.size(), compiled.kernels.size(),
      KernelTable(ir, compiled, name), workspace_bytes, state_bytes, ConstantsSymbol(name),
      constant_bytes, plans.size(), ir.Table(kGpuPlanType, plans));
  return ir.Table("{ ptr, i32, i32, i32, ptr, i64, i64, ptr, i64, i32, ptr }", {&network, 1});
}

}  // namespace bayloom::graph
