// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "bayloom/kernel/kernel_evaluator.h"
#include "bayloom/search/scenario.h"
#include "tests/temporary_folder.h"
#include "tests/trial/evaluate_one.h"
#include "tests/with_variable.h"

namespace bayloom::kernel {

/// A kernel in a folder of its own, and what evaluates it.
class KernelUnderTest {
 public:
  /// `rest`: the scenario from `parameters` on, in YAML.
  KernelUnderTest(const std::string& file, const std::string& source, const std::string& rest)
      : runner_("BAYLOOM_RUNNER", BAYLOOM_TEST_RUNNER) {
    Write(file, source);
    scenario_ = search::ParseScenario(rest, Path("kernel.yaml"));
  }

  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  const search::Scenario& scenario() const { return scenario_; }
  KernelEvaluator& evaluator() {
    if (!evaluator_) evaluator_ = std::make_unique<KernelEvaluator>(scenario_, 1);
    return *evaluator_;
  }
  space::Configuration Configuration(const std::map<std::string, space::Value>& values) const {
    return *scenario_.space->Parse(values);
  }
  trial::Outcome Evaluate(const std::map<std::string, space::Value>& values) {
    return trial::EvaluateOne(evaluator(), Configuration(values));
  }

 private:
  TemporaryFolder folder_;
  WithVariable runner_;
  search::Scenario scenario_;
  std::unique_ptr<KernelEvaluator> evaluator_;
};

}  // namespace bayloom::kernel
