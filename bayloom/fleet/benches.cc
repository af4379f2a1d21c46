// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/fleet/benches.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/one_line.h"
#include "bayloom/codegen/host.h"
#include "bayloom/fleet/configuration_trials.h"
#include "bayloom/fleet/design_trials.h"
#include "bayloom/fleet/mapping_trials.h"
#include "bayloom/fleet/program_trials.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/target/target_json.h"

namespace bayloom::fleet {

Benches::Benches(WorkerOptions options) : options_(std::move(options)) {}

worker::ServerOptions Benches::ServerOptions() {
  worker::ServerOptions server;
  server.hello = measure::WorkerGreeting(options_.target, codegen::HasCompiler());
  server.make_bench = [this](const nlohmann::json& definition) { return Make(definition); };
  server.measure_machine = [this](const std::function<bool()>& stop) { return Measure(stop); };
  server.note = [this] { return Note(); };
  return server;
}

Result<nlohmann::json> Benches::Measure(const std::function<bool()>& stop) try {
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

std::string Benches::Note() {
  if (!machine_note_.empty()) return std::exchange(machine_note_, {});
  return load_ && load_->Look() ? measure::DescribeBusy(load_->last()) : std::string();
}

Result<std::unique_ptr<worker::Bench>> Benches::Make(const nlohmann::json& definition) {
  if (!definition.is_object() || !definition.contains("kind")) {
    return Error{"a definition without a kind"};
  }
  const nlohmann::json& kind = definition["kind"];
  // Mappings and designs are worth the same on a busy machine.
  if (!load_ && kind != kMappingKind && kind != kDesignKind) {
    const int threads = kind == kScenarioKind ? options_.jobs : options_.target.cores;
    load_.emplace(measure::LoadMonitorOptions{.threads = threads});
  }
  if (kind == kScenarioKind) return MakeScenarioBench(definition, options_.jobs);
  if (kind == kMappingKind) return MakeMappingBench(definition, options_.jobs);
  if (kind == kDesignKind) return MakeDesignBench(definition, options_.jobs);
  if (kind == measure::kKernelKind) {
    if (!kernels_) {
      kernels_ = std::make_unique<measure::KernelWorker>(options_.target, options_.measuring);
    }
    return kernels_->MakeBench(definition);
  }
  if (kind != kProgramKind) {
    return Error{"there is no kind of subject " + base::InOneLine(kind.dump())};
  }
  if (!codegen::HasCompiler()) {
    return Error{"this worker was built without the compiler, which programs need"};
  }
  if (!measurer_) {
    measurer_ = std::make_unique<measure::Measurer>(options_.target, options_.measuring);
  }
  return MakeProgramBench(definition, *measurer_);
}

}  // namespace bayloom::fleet
