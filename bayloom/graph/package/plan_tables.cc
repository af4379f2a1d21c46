// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/plan_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bayloom/codegen/abi.h"
#include "bayloom/graph/package/decoder_tables.h"

namespace bayloom::graph {
namespace {

// Types of codegen/runtime/bayloom_plan.h.
constexpr char kKernelType[] = "{ ptr, i64, ptr, i64, i64 }";
constexpr char kCallType[] = "{ ptr, i64, ptr }";
constexpr char kSmallCallType[] = "{ ptr, i64, { ptr, i64, ptr } }";
constexpr char kPlannedCallType[] = "{ { ptr, i64, ptr }, i64, ptr }";
constexpr char kRoundType[] = "{ i64, ptr }";
constexpr char kSizeType[] = "{ ptr, i64 }";
constexpr char kFoundType[] = "{ i64, { i32, i32, i64, ptr, i64 }, i64, i64, i64 }";
constexpr char kOpenTensorType[] = "{ i64, { i32, i32, i64, ptr, i64 }, i64, ptr, ptr, i64 }";
constexpr char kCopyType[] = "{ { i32, i32, i64, ptr, i64 }, i64, i64 }";
constexpr char kPlanType[] =
    "{ i64, ptr, i64, ptr, i64, ptr, i64, ptr, i64, ptr, { i32, i32, i64, ptr, i64 }, ptr, i64, "
    "i64, ptr }";

WorkspaceBytes WorkspaceOf(const codegen::KernelObject& kernel) {
  return {target::AlignUp(kernel.shared_workspace_bytes),
          target::AlignUp(kernel.worker_workspace_bytes)};
}

/// The tables of one variant. Equal ones are there once, so that each is asked for where it is
/// named.
class Tables {
 public:
  Tables(IrText& ir, const CompiledVariant& compiled) : ir_(ir), compiled_(compiled) {}

  std::string Plan(const Graph& graph, const NetworkPlan& plan) {
    std::vector<std::string> sizes, rounds, copies;
    for (const PlannedSize& size : plan.sizes) {
      sizes.push_back(fmt::format("{{ {}, i64 {} }}", ir_.Length(size.length), size.position));
    }
    for (const std::vector<int>& round : plan.rounds) {
      std::vector<std::string> calls;
      for (const int call : round) calls.push_back(PlannedCallOf(plan, call));
      rounds.push_back(
          fmt::format("{{ i64 {}, {} }}", calls.size(), ir_.Table(kPlannedCallType, calls)));
    }
    for (const PlannedCopy& copy : plan.copies) {
      copies.push_back(fmt::format("{{ {} {}, i64 {}, i64 {} }}", kPlaceType,
                                   PlaceOf(ir_, copy.from), copy.output, copy.bytes));
    }
    std::string text = "{ ";
    text += List(kSizeType, sizes) + ", ";
    text += List(kOpenTensorType, OpenTensors(plan.open_inputs)) + ", ";
    text += List(kRoundType, rounds) + ", ";
    text += List(kCopyType, copies) + ", ";
    text += List(kOpenTensorType, OpenTensors(plan.open_outputs)) + ", ";
    return text + Logits(graph, plan) + ", " + List(kFoundType, FoundLengths(plan)) + " }";
  }

 private:
  /// How many, and where they are.
  std::string List(const char* type, const std::vector<std::string>& elements) {
    return fmt::format("i64 {}, {}", elements.size(), ir_.Table(type, elements));
  }

  std::string KernelOf(int number) {
    const codegen::KernelObject& kernel = compiled_.kernels[static_cast<size_t>(number)];
    ir_.Add(fmt::format("declare void @{}(ptr, ptr)\n", kernel.symbol));
    std::vector<std::string> steps;
    for (const codegen::KernelStep& step : kernel.steps) {
      ir_.Add(fmt::format("declare void @{}(ptr, i64, i64, i32)\n", step.symbol));
      steps.push_back(fmt::format("{{ i64 {}, ptr @{} }}", step.extent, step.symbol));
    }
    const WorkspaceBytes bytes = WorkspaceOf(kernel);
    const std::string table = fmt::format("{{ ptr @{}, {}, i64 {}, i64 {} }}", kernel.symbol,
                                          List("{ i64, ptr }", steps), bytes.shared, bytes.worker);
    return ir_.Table(kKernelType, {&table, 1});
  }

  std::string CallOf(const PlannedCall& call) {
    std::vector<std::string> arguments;
    for (const Storage& storage : call.arguments) arguments.push_back(PlaceOf(ir_, storage));
    return fmt::format("{{ {}, {} }}", KernelOf(call.task), List(kPlaceType, arguments));
  }

  std::string PlannedCallOf(const NetworkPlan& plan, int call) {
    std::vector<std::string> small;
    if (!plan.small_calls.empty()) {
      for (const SmallCall& other : plan.small_calls[static_cast<size_t>(call)]) {
        const std::string done =
            other.IsNothing() ? "{ ptr null, i64 0, ptr null }" : CallOf(other.call);
        small.push_back(fmt::format("{{ {}, i64 {}, {} {} }}", ir_.Length(other.size), other.up_to,
                                    kCallType, done));
      }
    }
    return fmt::format("{{ {} {}, {} }}", kCallType, CallOf(plan.calls[static_cast<size_t>(call)]),
                       List(kSmallCallType, small));
  }

  std::vector<std::string> OpenTensors(const std::vector<OpenTensor>& tensors) {
    std::vector<std::string> tables;
    for (const OpenTensor& tensor : tensors) {
      std::vector<std::string> lengths;
      for (const Length& length : tensor.lengths) {
        lengths.push_back(ir_.Length(length).substr(4));  // without its type
      }
      tables.push_back(fmt::format("{{ i64 {}, {} {}, i64 {}, {}, {}, i64 {} }}", tensor.position,
                                   kPlaceType, PlaceOf(ir_, tensor.network), tensor.extents.size(),
                                   ir_.Table("ptr", lengths), ir_.Numbers("i64", tensor.extents),
                                   tensor.element_bytes));
    }
    return tables;
  }

  std::vector<std::string> FoundLengths(const NetworkPlan& plan) {
    std::vector<std::string> tables;
    for (const PlannedFound& found : plan.found) {
      tables.push_back(fmt::format("{{ i64 {}, {} {}, i64 {}, i64 {}, i64 {} }}", found.rounds,
                                   kPlaceType, PlaceOf(ir_, found.count), found.symbol, found.least,
                                   found.most));
    }
    return tables;
  }

  std::string Logits(const Graph& graph, const NetworkPlan& plan) {
    const std::optional<LastLogits> logits = LastLogitsOf(graph, plan);
    if (!logits) return fmt::format("{} zeroinitializer, ptr null, i64 0", kPlaceType);
    return fmt::format("{} {}, {}, i64 {}", kPlaceType, PlaceOf(ir_, logits->place),
                       ir_.Length(logits->count), logits->row_bytes);
  }

  IrText& ir_;
  const CompiledVariant& compiled_;
};

void Enlarge(WorkspaceBytes& bytes, const WorkspaceBytes& other) {
  bytes = {std::max(bytes.shared, other.shared), std::max(bytes.worker, other.worker)};
}

}  // namespace

WorkspaceBytes LargestWorkspace(const CompiledVariant& compiled) {
  WorkspaceBytes largest;
  for (const NetworkPlan& plan : compiled.plans) {
    for (const std::vector<int>& round : plan.rounds) {
      WorkspaceBytes together;
      for (const int call : round) {
        WorkspaceBytes own = WorkspaceOf(compiled.kernels[plan.calls[call].task]);
        if (!plan.small_calls.empty()) {
          for (const SmallCall& small : plan.small_calls[call]) {
            if (!small.IsNothing()) Enlarge(own, WorkspaceOf(compiled.kernels[small.call.task]));
          }
        }
        together = {together.shared + own.shared, together.worker + own.worker};
      }
      Enlarge(largest, together);
    }
  }
  return largest;
}

std::string PlaceOf(IrText& ir, const Storage& storage) {
  const auto place = [](int memory, int64_t number, int64_t offset) {
    return fmt::format("{{ i32 {}, i32 {}, i64 {}, ptr null, i64 0 }}", memory, number, offset);
  };
  switch (storage.kind) {
    case Storage::Kind::kInput:
      return place(BAYLOOM_INPUT, storage.position, storage.offset);
    case Storage::Kind::kOutput:
      return place(BAYLOOM_OUTPUT, storage.position, storage.offset);
    case Storage::Kind::kArena:
      return place(BAYLOOM_ARENA, 0, storage.position);
    case Storage::Kind::kConstant:
      return place(BAYLOOM_CONSTANT, 0, storage.position);
    case Storage::Kind::kState:
      break;
  }
  return fmt::format("{{ i32 {}, i32 0, i64 {}, {}, i64 {} }}", static_cast<int>(BAYLOOM_STATE),
                     storage.position, ir.Length(storage.rows), storage.row_bytes);
}

std::string PlanTables(IrText& ir, std::span<const PackageShape> shapes,
                       const CompiledVariant& compiled) {
  Tables tables(ir, compiled);
  std::vector<std::string> plans;
  for (size_t s = 0; s < compiled.plans.size(); ++s) {
    plans.push_back(tables.Plan(shapes[s].network->graph, compiled.plans[s]));
  }
  return ir.Table(kPlanType, plans);
}

}  // namespace bayloom::graph
