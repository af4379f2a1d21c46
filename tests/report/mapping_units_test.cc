// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/mapping_units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "bayloom/report/format.h"
#include "bayloom/report/kept_result.h"

namespace bayloom::report {
namespace {

TEST(MappingUnits, EachObjectiveHasOne) {
  EXPECT_EQ(FormatMapValue("energy", 4.469412), "4.46941 pJ/MAC");
  EXPECT_EQ(FormatMapValue("delay", 134217728), "134,217,728 cycles");
  EXPECT_EQ(FormatMapValue("edp", 2.37123e14), "237.123 J cycles");
  EXPECT_EQ(FormatMapValue("edp", std::nan("")), "-");
  EXPECT_EQ(FormatDesignValue("energy", 1.5e9), "1.5 mJ");
  EXPECT_EQ(FormatDesignValue("area", 4.25), "4.25 mm2");
  EXPECT_EQ(FormatEnergy(1234567), "1.23 uJ");
  EXPECT_EQ(FormatEnergy(0.25), "0.25 pJ");
}

TEST(MappingUnits, ValuesOfSimulatorsHaveNone) {
  record::RunRecord run;
  run.kind = record::RunKind::kMap;
  run.objective = "edp";
  run.definition = R"({"evaluator": "model"})";
  EXPECT_EQ(UnitOf(run), "pJ cycles");
  EXPECT_EQ(FormatRunValue(run, 1e12), "1 J cycles");
  run.objective = "energy,delay";
  EXPECT_EQ(FormatRunValue(run, 2), "2 pJ/MAC");
  run.definition = R"({"evaluator": "simulator {mapping}"})";
  EXPECT_EQ(FormatRunValue(run, 2), "2");
}

TEST(KeptResult, IsWhatWasPrinted) {
  Table table({"layer", "energy", "proved"});
  table.AddRow({"first", {1.5, "1.5"}, "optimum"});
  table.AddRow({"second", {std::nan(""), "-"}, "-"});
  const KeptResult result = {.summary = "two layers", .parts = {{"title", table, "a\nb"}}};
  record::RunRecord run;
  run.kind = record::RunKind::kMap;
  run.state = nlohmann::json{{"layers", {"u1", "u2"}}, {"result", ToJson(result)}}.dump();
  const std::optional<KeptResult> kept = KeptResultOf(run);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->Text(), result.Text());
  EXPECT_EQ(kept->summary, "two layers");
  EXPECT_EQ(kept->parts[0].table.Json(), table.Json());
  std::vector<record::RunRecord> all(2);
  all[0].uuid = "u2";
  all[0].id = 7;
  EXPECT_EQ(LayerRunsOf(run, all), std::vector<record::RunId>{7});
  // Of other programs, or damaged.
  for (const char* state :
       {"", "[]", "{}", R"({"result": 3})", R"({"result": {"parts": [{}]}})",
        R"({"result": {"parts": [{"table": {"columns": ["a"], "rows": [[]]}}]}})",
        R"({"layers": 3})"}) {
    run.state = state;
    EXPECT_FALSE(KeptResultOf(run)) << state;
    EXPECT_TRUE(LayerRunsOf(run, all).empty()) << state;
  }
}

}  // namespace
}  // namespace bayloom::report
