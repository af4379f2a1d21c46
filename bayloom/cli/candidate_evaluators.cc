// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/candidate_evaluators.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/accelerator/remote_designs.h"
#include "bayloom/accelerator/remote_mappings.h"
#include "bayloom/base/single_line.h"
#include "bayloom/codegen/host.h"
#include "bayloom/kernel/kernel_evaluator.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/search/remote_configurations.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tuning/remote_programs.h"

namespace bayloom::cli {

CandidateEvaluators::CandidateEvaluators(WorkerOptions options) : options_(std::move(options)) {}

remote::ServerOptions CandidateEvaluators::ServerOptions() {
  remote::ServerOptions server;
  server.hello = measure::WorkerGreeting(options_.target, codegen::HasCompiler());
  server.make_evaluator = [this](const nlohmann::json& definition) { return Make(definition); };
  server.measure_machine = [this](const std::function<bool()>& stop) { return Measure(stop); };
  server.note = [this] { return Note(); };
  return server;
}

Result<nlohmann::json> CandidateEvaluators::Measure(const std::function<bool()>& stop) try {
  const Result<measure::MeasuredMachine> machine =
      measure::MeasuredMachineOf(options_.target, stop);
  if (!machine) return machine.error();
  if (machine->disturbed) machine_note_ = measure::DescribeMeasuredBusy(*machine->disturbed);
  target::Target measured = options_.target;
  measured.machine = machine->model;
  return target::TargetToJson(measured);
} catch (const measure::Interrupted&) {
  return Error{"stopped"};
}

std::string CandidateEvaluators::Note() {
  if (!machine_note_.empty()) return std::exchange(machine_note_, {});
  return load_ && load_->Look() ? measure::DescribeBusy(load_->last()) : std::string();
}

Result<std::unique_ptr<remote::CandidateEvaluator>> CandidateEvaluators::Make(
    const nlohmann::json& definition) {
  if (!definition.is_object() || !definition.contains("kind")) {
    return Error{"a definition without a kind"};
  }
  const nlohmann::json& kind = definition["kind"];
  // Mappings and designs are worth the same on a busy machine.
  if (!load_ && kind != accelerator::kMappingKind && kind != accelerator::kDesignKind) {
    const int threads = kind == search::kScenarioKind ? options_.jobs : options_.target.cores;
    load_.emplace(measure::LoadMonitorOptions{.threads = threads});
  }
  if (kind == search::kScenarioKind)
    return search::MakeScenarioCandidateEvaluator(definition, options_.jobs,
                                                  kernel::KernelEvaluatorMaker(options_.jobs));
  if (kind == accelerator::kMappingKind)
    return accelerator::MakeMappingCandidateEvaluator(definition, options_.jobs);
  if (kind == accelerator::kDesignKind)
    return accelerator::MakeDesignCandidateEvaluator(definition, options_.jobs);
  if (kind == measure::kKernelKind) {
    if (!kernels_) {
      kernels_ = std::make_unique<measure::KernelWorker>(options_.target, options_.measuring);
    }
    return kernels_->MakeEvaluator(definition);
  }
  if (kind != tuning::kProgramKind) {
    return Error{"there is no kind of subject " + base::SingleLine(kind.dump())};
  }
  if (!codegen::HasCompiler()) {
    return Error{"this worker was built without the compiler, which programs need"};
  }
  if (!measurer_) {
    measurer_ = std::make_unique<measure::Measurer>(options_.target, options_.measuring);
  }
  return tuning::MakeProgramCandidateEvaluator(definition, *measurer_);
}

}  // namespace bayloom::cli
