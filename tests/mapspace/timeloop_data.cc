// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/mapspace/timeloop_data.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace bayloom::mapspace {

std::string TimeloopDataFolder() { return BAYLOOM_TEST_TIMELOOP; }

std::string AllTimeloopDataFolder() {
  const char* shared = std::getenv("BAYLOOM_SHARED_DATA");
  if (shared == nullptr) return "";
  const std::string folder = std::string(shared) + "/timeloop";
  return std::filesystem::is_directory(folder + "/evals") ? folder : "";
}

void ForEachJsonLine(const std::string& file,
                     const std::function<void(const nlohmann::json&)>& visit) {
  const auto close = [](FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(
      popen(("gzip -dcf '" + file + "'").c_str(), "r"), close);
  char* line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, pipe.get()) > 0) visit(nlohmann::json::parse(line));
  std::free(line);
}

Mapping MappingOfJson(const nlohmann::json& mapping, const Problem& problem,
                      const Architecture& architecture) {
  Mapping result;
  result.levels.resize(architecture.levels.size());
  for (const nlohmann::json& level : mapping.at("levels")) {
    MappingLevel& to = result.levels[architecture.LevelNamed(level.at("name").get<std::string>())];
    to.keep = 0;
    for (char letter : level.at("keep").get<std::string>()) {
      for (int t = 0; t < problem.TensorCount(); ++t) {
        if (problem.tensors[t].name[0] == letter) to.keep |= uint32_t{1} << t;
      }
    }
    for (int d = 0; d < problem.DimensionCount(); ++d) {
      to.temporal[d] = level.at("t")[d];
      if (level.contains("s")) to.spatial[d] = level.at("s")[d];
      to.order[d] = static_cast<int8_t>(
          problem.DimensionNamed(level.at("perm").get<std::string>().substr(d, 1)));
    }
    if (level.value("axis", "X") == "Y") to.along_y = ~DimensionSet{0};
  }
  return result;
}

}  // namespace bayloom::mapspace
