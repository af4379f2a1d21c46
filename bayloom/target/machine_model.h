// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace bayloom::target {

/// Bytes of a cache line.
constexpr double kLineBytes = 64;

/// Seconds that pass between two operations of one kind that do not wait for each other.
struct IssueInterval {
  double alone = 0;     ///< one thread issues them, while the other processors rest
  double together = 0;  ///< all threads issue them; 0: they do not slow each other down
  /// Of one thread, while so many of them are busy.
  double PerThread(double busy_threads) const;
  bool operator==(const IssueInterval&) const = default;
};

/// A level of the memory hierarchy.
struct MemoryLevel {
  /// A thread's share of the capacity while all threads of the target are busy; 0 for main memory,
  /// which holds everything.
  int64_t bytes = 0;
  IssueInterval line;  ///< lines read from it one after the other
  bool operator==(const MemoryLevel&) const = default;
};

/// What a machine can do, in seconds, which need no clock frequency: the numbers behind the
/// estimate of a program's time (feature/time_estimate.h), the choice of register tiles
/// (codegen/emit/tile_cost.h), rooflines and the expected rate of trials (measure/roofline.h,
/// measure/trial_rate.h). MeasureMachine of measure/measure_machine.h measures one in seconds;
/// NominalMachine stands for it where nothing was measured.
///
/// Vectors are registers of `vector_bytes`, their elements float32.
struct MachineModel {
  int threads = 1;  ///< that parallel loops ran on when it was measured
  int vector_bytes = 32;
  int vector_registers = 16;
  IssueInterval multiply_add;       ///< vector multiply-adds in registers
  double multiply_add_latency = 0;  ///< seconds until the result can be used again
  double vector_load = 0;           ///< seconds between two vector loads from the first level
  double division = 0;              ///< seconds between two vector divisions
  double transcendental = 0;        ///< seconds for exp of a vector, as codegen emits it
  double fork_join = 0;             ///< seconds to begin and end a parallel loop
  double job = 0;                   ///< further seconds for each iteration of a parallel loop
  double compile = 0;               ///< seconds to compile a candidate on one thread
  /// Innermost first; at least one cache, and main memory as the last.
  std::vector<MemoryLevel> levels;

  double lanes() const { return static_cast<double>(vector_bytes) / sizeof(float); }
  /// Float32 operations a second of all threads, a multiply-add counting two.
  double PeakFlops() const;
  /// Bytes a second that all threads together read from the level.
  double BytesPerSecond(const MemoryLevel& level) const;
  bool operator==(const MachineModel&) const = default;
};

nlohmann::json MachineModelToJson(const MachineModel& machine);
/// Throws nlohmann::json::exception where a field is missing or of another kind, or where there
/// are no two levels.
MachineModel MachineModelFromJson(const nlohmann::json& json);

}  // namespace bayloom::target
