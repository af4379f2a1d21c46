// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A client in the protocol of HyperMapper and BaCO.

#include <sstream>

#include "bayloom/search/hypermapper_server.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {

std::vector<std::string> Seeds() {
  return {
      "Works,runtime,tile\nyes,1.5,8\nno,0,4\nWorks,runtime\nyes,2.5e-1\nruntime,Works\n7,yes\n",
      "runtime,Works,tile,word,order\r\n1,yes,8,a,\"(0, 1, 2)\"\r\n2,yes,4,b,(2, 1, 0)\r\n"};
}

void Read(const std::string& input) {
  static const search::Scenario kScenario = search::ParseScenario(
      R"({"application_name": "theirs", "optimization_objectives": ["runtime"],
          "optimization_iterations": 4, "design_of_experiment": {"number_of_samples": 2},
          "optimization_method": "exhaustive",
          "feasible_output": {"enable_feasible_predictor": true, "name": "Works",
                              "true_value": "yes"},
          "input_parameters": {
            "tile": {"parameter_type": "ordinal", "values": [4, 8, 16, 32]},
            "word": {"parameter_type": "categorical", "values": ["a", "b"]}}})",
      "theirs.json");
  search::Study study(kScenario, optimizer::MakeOptimizer(kScenario.optimizer, kScenario.space,
                                                          kScenario.optimizer_options));
  std::istringstream in(input);
  std::ostringstream out;
  search::HyperMapperServer(kScenario, study).Run(in, out);
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
