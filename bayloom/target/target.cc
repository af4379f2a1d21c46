// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/target.h"

namespace bayloom::target {

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

/// Each rate is what was fitted on that processor, as it shows in the estimate, over the estimate's
/// weight for it, so that estimates are those of before there were machine models, to the last bit.
/// Latency and loads are two units of each kind with a latency of four cycles.
MachineModel NominalMachine(const Target& target) {
  MachineModel machine;
  machine.threads = target.cores;
  machine.vector_bytes = target.vector_bytes;
  machine.multiply_add.alone = 1e-9 / 4;
  machine.multiply_add_latency = 8 * machine.multiply_add.alone;
  machine.vector_load = machine.multiply_add.alone;
  machine.division = 4e-9;
  machine.transcendental = 10e-9;
  machine.job = 0.1e-9;
  machine.compile = 0.16;
  machine.levels = {{target.l1_bytes, {0.05e-9, 0}},
                    {target.l2_bytes, {0.05e-9, 0}},
                    {16 << 20, {0.5e-9 / 0.5, 0}},
                    {0, {1.3e-9 / 0.0625, 0}}};
  return machine;
}

MachineModel MachineOf(const Target& target) {
  return target.machine ? *target.machine : NominalMachine(target);
}

}  // namespace bayloom::target
