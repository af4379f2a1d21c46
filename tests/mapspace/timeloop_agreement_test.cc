// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/mapspace/timeloop_data.h"

namespace bayloom::mapspace {
namespace {

/// How many of the compared figures agree.
struct Share {
  int64_t same = 0;
  int64_t all = 0;

  void Add(bool agrees) {
    same += agrees ? 1 : 0;
    ++all;
  }
};

struct Agreement {
  Share validity, cycles, utilization;
  std::map<std::string, Share> counts;  ///< per tensor
  double worst_energy_error = 0;
};

void CompareCounts(const nlohmann::json& levels, const Evaluation& ours, const Problem& problem,
                   const Architecture& architecture, Agreement& agreement) {
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const nlohmann::json& level = levels.at(architecture.levels[l].name);
    for (int t = 0; t < problem.TensorCount(); ++t) {
      const auto row = level.find(problem.tensors[t].name.substr(0, 1));
      const TensorTraffic& traffic = ours.levels[l].tensors[t];
      Share& share = agreement.counts[problem.tensors[t].name];
      if (row == level.end()) {
        share.Add(traffic.tile_words == 0 && traffic.reads == 0 && traffic.fills == 0);
        continue;
      }
      share.Add(traffic.reads == row->at(0) && traffic.fills == row->at(1) &&
                traffic.updates == row->at(2) && traffic.tile_words == row->at(3) &&
                ours.levels[l].instances == row->at(4));
      agreement.worst_energy_error = std::max(
          agreement.worst_energy_error, std::abs(traffic.energy_pj / row->at(7).get<double>() - 1));
    }
  }
}

Agreement Compare(const std::string& folder, const std::string& file) {
  const std::string pair = file.substr(0, file.find('.'));
  const size_t middle = pair.find("__");
  const Problem problem =
      ReadProblem(folder + "/inputs/problem/" + pair.substr(middle + 2) + ".yaml");
  const Architecture architecture =
      ReadArchitecture(folder + "/inputs/arch/" + pair.substr(0, middle) + ".yaml");
  const AnalyticalModel model(problem, architecture, ReuseCounting::kTimeloop);
  Agreement agreement;
  ForEachJsonLine(folder + "/evals/" + file, [&](const nlohmann::json& line) {
    if (line.contains("header")) return;
    const Mapping mapping = MappingOfJson(line.at("mapping"), problem, architecture);
    const Status checked = CheckMapping(mapping, problem, architecture);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    agreement.validity.Add(model.Fits(mapping) == line.at("valid").get<bool>());
    EXPECT_EQ(model.Fits(mapping), model.CheckFit(mapping).ok());
    if (!line.at("valid")) return;
    const nlohmann::json& theirs = line.at("result");
    const Evaluation ours = model.Evaluate(mapping);
    CompareCounts(theirs.at("levels"), ours, problem, architecture, agreement);
    agreement.cycles.Add(ours.cycles == theirs.at("cycles"));
    agreement.utilization.Add(
        std::abs(ours.utilization / theirs.at("utilization").get<double>() - 1) < 1e-9);
    agreement.worst_energy_error =
        std::max(agreement.worst_energy_error,
                 std::abs(ours.energy_pj / theirs.at("energy_pJ").get<double>() - 1));
  });
  return agreement;
}

/// How many mappings were compared; all figures are to agree.
int64_t ExpectAgreement(const std::string& folder) {
  int64_t mappings = 0;
  const auto all = [](const Share& share) {
    EXPECT_GT(share.all, 0);
    EXPECT_EQ(share.same, share.all);
  };
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/evals")) {
    const std::string file = entry.path().filename().string();
    SCOPED_TRACE(file);
    const Agreement agreement = Compare(folder, file);
    mappings += agreement.validity.all;
    all(agreement.validity);
    all(agreement.cycles);
    all(agreement.utilization);
    for (const auto& [tensor, share] : agreement.counts) {
      SCOPED_TRACE(tensor);
      all(share);
    }
    EXPECT_LT(agreement.worst_energy_error, 1e-9);
  }
  return mappings;
}

TEST(TimeloopAgreement, EveryRecordedFigureIsReproduced) {
  EXPECT_EQ(ExpectAgreement(TimeloopDataFolder()), 28);
}

TEST(TimeloopAgreement, SoAreThoseOfThousandsOfMappings) {
  const std::string folder = AllTimeloopDataFolder();
  if (folder.empty()) GTEST_SKIP() << "BAYLOOM_SHARED_DATA does not name Timeloop's figures";
  EXPECT_GT(ExpectAgreement(folder), 1000);
}

}  // namespace
}  // namespace bayloom::mapspace
