// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/kernel_worker.h"

#include <fmt/format.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/json.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/version.h"
#include "bayloom/measure/kernel_json.h"
#include "bayloom/target/emulated.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom::measure {
namespace {

using Json = nlohmann::json;

/// Enough that the next kernel is there when one is done.
constexpr int kSlots = 4;

/// A task as a worker knows it.
struct KernelTask {
  tensor::Workload workload;
  std::vector<ReferenceKernel> references;
  int threads = 1;
};

struct KernelTrial {
  TrialMessage kernel;
  bool is_repeat = false;
};

/// Runs kernels of a task, one in each Collect.
class KernelEvaluator final : public trial::Evaluator<KernelTrial> {
 public:
  KernelEvaluator(std::shared_ptr<const KernelTask> task, KernelMeasurer& measurer,
                  bool is_emulated)
      : task_(std::move(task)), measurer_(measurer), is_emulated_(is_emulated) {}

  int Capacity() const override { return kSlots; }
  void Submit(trial::TrialId id, const KernelTrial& trial) override {
    waiting_.emplace_back(id, &trial);
  }
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>& stop) override {
    if (waiting_.empty()) return {};
    const auto [id, trial] = waiting_.front();
    trial::FinishedTrial finished{id, std::nullopt, {}};
    try {
      finished.outcome = Try(*trial, stop);
    } catch (const Interrupted&) {
      return {};
    } catch (const SystemError& error) {
      finished.lost = error.what();
    }
    waiting_.pop_front();
    return {std::move(finished)};
  }
  void Cancel() override { waiting_.clear(); }

 private:
  trial::Outcome Try(const KernelTrial& trial, const StopCheck& stop) {
    const Status prepared = measurer_.PrepareReference(task_->workload, task_->references, stop);
    if (!prepared) {
      return trial::Outcome::Infeasible(trial::Verdict::kBuildError, prepared.error().message);
    }
    const auto run = trial.is_repeat ? &KernelMeasurer::Repeat : &KernelMeasurer::Run;
    trial::Outcome outcome = (measurer_.*run)(task_->workload, trial.kernel, {}, stop);
    if (is_emulated_) outcome.Set("emulated", 1);
    return outcome;
  }

  std::shared_ptr<const KernelTask> task_;
  KernelMeasurer& measurer_;
  bool is_emulated_;
  std::deque<std::pair<trial::TrialId, const KernelTrial*>> waiting_;
};

Result<std::shared_ptr<const KernelTask>> TaskOf(const Json& definition, int processors) try {
  auto task = std::make_shared<KernelTask>();
  definition.at("threads").get_to(task->threads);
  if (task->threads < 1 || task->threads > processors) {
    return Error{fmt::format("programs for {} threads, and {} processor{}", task->threads,
                             processors, processors == 1 ? "" : "s")};
  }
  Result<tensor::Workload> workload = tensor::WorkloadFromJson(definition.at("workload"));
  if (!workload) return workload.error();
  task->workload = *std::move(workload);
  const size_t parameters = task->workload.Parameters().size();
  for (const Json& json : definition.at("references")) {
    Result<TrialMessage> kernel = KernelFromJson(json, parameters);
    if (!kernel) return kernel.error();
    kernel->threads = task->threads;
    task->references.emplace_back(
        [kernel = *std::move(kernel)]() -> Result<TrialMessage> { return kernel; });
  }
  return std::shared_ptr<const KernelTask>(std::move(task));
} catch (const Json::exception& error) {
  return Error{"the definition of a task's kernels lacks a part: " +
               base::JsonErrorText(error.what())};
}

}  // namespace

Json KernelSubject(const tensor::Workload& workload, int threads,
                   std::span<const TrialMessage> references) {
  Json kernels = Json::array();
  for (const TrialMessage& reference : references) kernels.push_back(KernelToJson(reference));
  return {{"kind", kKernelKind},
          {"workload", tensor::WorkloadToJson(workload)},
          {"threads", threads},
          {"references", std::move(kernels)}};
}

remote::Report WorkerGreeting(const target::Target& machine, bool compiles) {
  remote::Report hello;
  hello.kind = remote::Report::Kind::kHello;
  hello.version = base::Version();
  hello.body = target::TargetToJson(machine);
  hello.compiles = compiles;
  hello.identity =
      fmt::format("{}-{}-{:016x}", machine.cpu, machine.cores, target::HashOf(machine));
  return hello;
}

KernelWorker::KernelWorker(target::Target machine, KernelOptions options)
    : machine_(std::move(machine)),
      measurer_(target::IsEmulated(machine_) ? WithoutTiming(std::move(options))
                                             : std::move(options)) {}

Result<std::unique_ptr<remote::CandidateEvaluator>> KernelWorker::MakeEvaluator(
    const Json& definition) {
  Result<std::shared_ptr<const KernelTask>> task = TaskOf(definition, machine_.cores);
  if (!task) return task.error();
  std::unique_ptr<remote::CandidateEvaluator> evaluator =
      std::make_unique<remote::TypedCandidateEvaluator<KernelTrial>>(
          std::make_unique<KernelEvaluator>(*task, measurer_, target::IsEmulated(machine_)), kSlots,
          [task = *task](const Json& json, bool is_repeat) -> Result<KernelTrial> {
            Result<TrialMessage> kernel = KernelFromJson(json, task->workload.Parameters().size());
            if (!kernel) return kernel.error();
            kernel->threads = task->threads;
            return KernelTrial{*std::move(kernel), is_repeat};
          });
  return evaluator;
}

}  // namespace bayloom::measure
