// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/calibration/schedules.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "bayloom/search/recorded_space.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom {
namespace {

using Json = nlohmann::json;

template <typename T>
T Value(Result<T> result) {
  if (!result) throw InputError(result.error().message);
  return *std::move(result);
}

/// A task while its schedules are read.
struct Task {
  sketch::SpaceGenerator generator;
  std::vector<tensor::Trace> spaces;
};

Task ReadTask(const Json& line, const target::Target& target) {
  Task task{sketch::SpaceGenerator(Value(tensor::WorkloadFromJson(line.at("workload"))), target),
            {}};
  for (const Json& space : line.at("spaces"))
    task.spaces.push_back(Value(tensor::Trace::FromJson(space)));
  return task;
}

tensor::Program ReadProgram(const Json& line, const Task& task) {
  const auto space = line.at("space").get<size_t>();
  if (space >= task.spaces.size()) throw InputError("there is no such space");
  const tensor::Trace& trace = task.spaces[space];
  std::vector<std::optional<tensor::Decision>> decisions(trace.instructions().size());
  size_t next = 0;
  for (int step : trace.SamplingSteps()) {
    decisions[step] = tensor::Decision{line.at("decisions").at(next++).get<std::vector<int64_t>>()};
  }
  return Value(task.generator.Replay(static_cast<int>(space),
                                     trace.WithDecisions(std::move(decisions)),
                                     base::RandomStream(0)))
      .program;
}

}  // namespace

ScheduleRecords ScheduleRecords::Read(const std::string& path) {
  ScheduleRecords records;
  std::istringstream text(search::ReadMaybeGzipped(path));
  std::optional<Task> task;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    try {
      const Json json = Json::parse(line);
      if (json.contains("target")) {
        records.target = target::TargetFromJson(json.at("target"));
      } else if (json.contains("workload")) {
        task.emplace(ReadTask(json, records.target));
        records.tasks.push_back({json.at("family").get<std::string>(), {}, {}});
      } else if (task) {
        records.tasks.back().programs.push_back(ReadProgram(json, *task));
        records.tasks.back().seconds.push_back(json.at("seconds").get<double>());
      } else {
        throw InputError("a schedule before any task");
      }
    } catch (const std::exception& error) {
      throw InputError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return records;
}

Json TaskLine(const std::string& family, const sketch::SpaceGenerator& generator) {
  Json spaces = Json::array();
  for (const tensor::Trace& space : generator.spaces()) spaces.push_back(space.ToJson());
  return {{"family", family},
          {"workload", tensor::WorkloadToJson(generator.workload())},
          {"spaces", std::move(spaces)}};
}

Json ScheduleLine(const sketch::Candidate& candidate, double seconds) {
  Json decisions = Json::array();
  for (int step : candidate.trace.SamplingSteps()) {
    decisions.push_back(candidate.trace.decisions()[step]->values);
  }
  return {{"space", candidate.space}, {"decisions", std::move(decisions)}, {"seconds", seconds}};
}

}  // namespace bayloom
