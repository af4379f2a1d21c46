// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/machine_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bayloom::target {
namespace {

using Json = nlohmann::json;

Json IntervalToJson(const IssueInterval& interval) {
  return {{"alone", interval.alone}, {"together", interval.together}};
}

IssueInterval IntervalFromJson(const Json& json) {
  return {json.at("alone").get<double>(), json.at("together").get<double>()};
}

/// Of an operation that all threads do at once.
double PerSecond(const IssueInterval& interval, int threads) {
  return threads / interval.PerThread(threads);
}

}  // namespace

double IssueInterval::PerThread(double busy_threads) const {
  return std::max(alone, together * busy_threads);
}

double MachineModel::PeakFlops() const { return 2 * lanes() * PerSecond(multiply_add, threads); }

double MachineModel::BytesPerSecond(const MemoryLevel& level) const {
  return kLineBytes * PerSecond(level.line, threads);
}

Json MachineModelToJson(const MachineModel& machine) {
  Json levels = Json::array();
  for (const MemoryLevel& level : machine.levels) {
    levels.push_back({{"bytes", level.bytes}, {"line", IntervalToJson(level.line)}});
  }
  return {{"threads", machine.threads},
          {"vector_bytes", machine.vector_bytes},
          {"vector_registers", machine.vector_registers},
          {"multiply_add", IntervalToJson(machine.multiply_add)},
          {"multiply_add_latency", machine.multiply_add_latency},
          {"vector_load", machine.vector_load},
          {"division", machine.division},
          {"transcendental", machine.transcendental},
          {"fork_join", machine.fork_join},
          {"job", machine.job},
          {"compile", machine.compile},
          {"levels", std::move(levels)}};
}

MachineModel MachineModelFromJson(const Json& json) {
  MachineModel machine;
  json.at("threads").get_to(machine.threads);
  json.at("vector_bytes").get_to(machine.vector_bytes);
  // Earlier records do not have it: they are of x86-64.
  machine.vector_registers = json.value("vector_registers", machine.vector_bytes >= 64 ? 32 : 16);
  machine.multiply_add = IntervalFromJson(json.at("multiply_add"));
  json.at("multiply_add_latency").get_to(machine.multiply_add_latency);
  json.at("vector_load").get_to(machine.vector_load);
  json.at("division").get_to(machine.division);
  json.at("transcendental").get_to(machine.transcendental);
  json.at("fork_join").get_to(machine.fork_join);
  json.at("job").get_to(machine.job);
  json.at("compile").get_to(machine.compile);
  json.at("levels").at(1);  // throws where there is none
  for (const Json& level : json.at("levels")) {
    machine.levels.push_back(
        {level.at("bytes").get<int64_t>(), IntervalFromJson(level.at("line"))});
  }
  return machine;
}

}  // namespace bayloom::target
