// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/target_check.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/target/target_json.h"

namespace bayloom::target {
namespace {

constexpr int kMaxThreads = 1 << 16, kMaxVectorBytes = 1 << 12, kMaxRegisters = 1 << 12;
constexpr int64_t kMaxCacheBytes = int64_t{1} << 40;
constexpr size_t kMaxLevels = 16;

Status Refuse(const std::string& what, int64_t number) {
  return Error{"a target cannot have " + what + " of " + std::to_string(number)};
}

Status CheckMachine(const MachineModel& machine) {
  if (machine.threads < 1 || machine.threads > kMaxThreads) {
    return Refuse("a machine with a number of threads", machine.threads);
  }
  if (machine.vector_bytes < 1 || machine.vector_bytes > kMaxVectorBytes) {
    return Refuse("a machine with a vector size in bytes", machine.vector_bytes);
  }
  if (machine.vector_registers < 1 || machine.vector_registers > kMaxRegisters) {
    return Refuse("a machine with a number of vector registers", machine.vector_registers);
  }
  if (machine.levels.size() > kMaxLevels) {
    return Refuse("a machine with a number of memory levels", std::ssize(machine.levels));
  }
  for (const auto& [name, seconds] : {std::pair{"multiply_add", machine.multiply_add.alone},
                                      {"multiply_add", machine.multiply_add.together},
                                      {"multiply_add_latency", machine.multiply_add_latency},
                                      {"vector_load", machine.vector_load},
                                      {"division", machine.division},
                                      {"transcendental", machine.transcendental},
                                      {"fork_join", machine.fork_join},
                                      {"job", machine.job},
                                      {"compile", machine.compile}}) {
    if (!(seconds >= 0 && std::isfinite(seconds))) {
      return Error{std::string("'") + name + "' of a target's machine is no time"};
    }
  }
  for (const MemoryLevel& level : machine.levels) {
    if (level.bytes < 0 || level.bytes > kMaxCacheBytes) {
      return Refuse("a machine with a memory level in bytes", level.bytes);
    }
    for (const double seconds : {level.line.alone, level.line.together}) {
      if (!(seconds >= 0 && std::isfinite(seconds))) {
        return Error{"'line' of a memory level of a target's machine is no time"};
      }
    }
  }
  return Ok();
}

}  // namespace

Status CheckTarget(const Target& target) {
  if (target.cores < 1 || target.cores > kMaxThreads) {
    return Refuse("a number of threads", target.cores);
  }
  const bool has_vectors = target.vector_bytes >= 4 && target.vector_bytes <= kMaxVectorBytes &&
                           std::has_single_bit(static_cast<unsigned>(target.vector_bytes));
  if (!has_vectors) return Refuse("a vector size in bytes", target.vector_bytes);
  for (const int64_t bytes : {target.l1_bytes, target.l2_bytes}) {
    if (bytes < 1 || bytes > kMaxCacheBytes) return Refuse("a cache size in bytes", bytes);
  }
  return target.machine ? CheckMachine(*target.machine) : Ok();
}

Result<Target> CheckedTarget(const nlohmann::json& json) {
  try {
    Target target = TargetFromJson(json);
    if (const Status checked = CheckTarget(target); !checked) return checked.error();
    return target;
  } catch (const nlohmann::json::exception& error) {
    return Error{base::JsonErrorText(error.what())};
  }
}

}  // namespace bayloom::target
