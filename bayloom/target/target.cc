// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/target.h"

#include "bayloom/target/arm_processor.h"
#include "bayloom/target/gpu_machine.h"

namespace bayloom::target {
namespace {

/// What a nominal machine differs in from others.
struct Shape {
  int multiply_adds;  ///< vectors that begin in a cycle
  int64_t l3_bytes;   ///< 0: there is none
};

Shape ShapeOf(const Target& target) {
  if (target.kind() != TargetKind::kAArch64) return {2, 16 << 20};
  const ArmProcessor& processor = ArmProcessorNamed(target.cpu);
  return {processor.multiply_adds, processor.l3_bytes};
}

}  // namespace

std::string_view ToString(TargetKind kind) {
  switch (kind) {
    case TargetKind::kX86_64:
      return "x86_64";
    case TargetKind::kAArch64:
      return "aarch64";
    case TargetKind::kNvidiaGpu:
      return "nvptx64";
    case TargetKind::kOtherCpu:
      break;
  }
  return "other";
}

TargetKind Target::kind() const {
  for (const TargetKind kind :
       {TargetKind::kX86_64, TargetKind::kAArch64, TargetKind::kNvidiaGpu}) {
    if (triple.starts_with(std::string(ToString(kind)) + "-")) return kind;
  }
  return TargetKind::kOtherCpu;
}

bool HasFeature(const Target& target, std::string_view feature) {
  bool has = false;
  std::string_view rest = target.features;
  while (!rest.empty()) {
    const size_t end = rest.find(',');
    const std::string_view part = rest.substr(0, end);
    if (part.size() > 1 && part.substr(1) == feature) has = part[0] == '+';
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return has;
}

int VectorRegisters(const Target& target) {
  return target.kind() == TargetKind::kAArch64 || target.vector_bytes >= 64 ? 32 : 16;
}

bool UsesAvx512(const Target& target) {
  return target.kind() == TargetKind::kX86_64 && target.vector_bytes >= 64;
}

/// Each rate is what was fitted on that processor, as it shows in the estimate, over the estimate's
/// weight for it, so that estimates are those from before there were machine models, to the last
/// bit. It has two units of each kind with a latency of four cycles.
MachineModel NominalMachine(const Target& target) {
  if (target.kind() == TargetKind::kNvidiaGpu) {
    Target unmeasured = target;
    unmeasured.machine.reset();
    return MachineModelOf(GpuMachineOf(unmeasured));
  }
  constexpr double kCycle = 1e-9 / 2;
  const Shape shape = ShapeOf(target);
  MachineModel machine;
  machine.threads = target.cores;
  machine.vector_bytes = target.vector_bytes;
  machine.vector_registers = VectorRegisters(target);
  machine.multiply_add.alone = kCycle / shape.multiply_adds;
  machine.multiply_add_latency = 4 * kCycle;
  machine.vector_load = shape.multiply_adds > 1 ? kCycle / 2 : kCycle;
  machine.division = 4e-9;
  machine.transcendental = 20e-9 / shape.multiply_adds;
  machine.job = 0.1e-9;
  machine.compile = 0.16;
  machine.levels = {{target.l1_bytes, {0.05e-9, 0}}, {target.l2_bytes, {0.05e-9, 0}}};
  if (shape.l3_bytes > 0) machine.levels.push_back({shape.l3_bytes, {0.5e-9 / 0.5, 0}});
  machine.levels.push_back({0, {1.3e-9 / 0.0625, 0}});
  return machine;
}

MachineModel MachineOf(const Target& target) {
  return target.machine ? *target.machine : NominalMachine(target);
}

}  // namespace bayloom::target
