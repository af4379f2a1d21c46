// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/kernel_evaluator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/file.h"
#include "bayloom/base/quantile.h"
#include "bayloom/base/system_error.h"
#include "bayloom/kernel/array_file.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/task_memory.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/command_trial.h"

namespace bayloom::kernel {
namespace {

using search::KernelDefinition;
using Reference = KernelDefinition::Reference;

/// For one trial, where the scenario does not say: compiling, preparing, checking, timing.
constexpr double kTimeoutSeconds = 30;
/// The times of so many batches are kept of a trial, about.
constexpr int kBatches = 20;
/// A kernel may be timed for so many times as long as it should be where few runs take that long.
constexpr double kMaxOverTime = 20;
constexpr int kDriftInterval = 16;

measure::KernelOptions OptionsOf(const search::EvaluatorOptions& evaluator,
                                 const base::ScratchFolder* cache) {
  const KernelDefinition& kernel = *evaluator.kernel;
  measure::KernelOptions options;
  options.runner.timeout_seconds = std::min(evaluator.timeout, 1e9);
  options.runner.reference_timeout_seconds = 10 * options.runner.timeout_seconds;
  options.runner.memory_limit_bytes = evaluator.memory_limit_bytes;
  options.runner.sandbox = evaluator.sandbox;
  // Drivers of OpenCL map more addresses than there is memory, and keep what they compile.
  options.runner.limit_address_space = kernel.IsOnHost();
  if (cache != nullptr) options.runner.environment = {"POCL_CACHE_DIR=" + cache->path()};
  options.timing.min_total_seconds = kernel.time_seconds;
  options.timing.min_batch_seconds = kernel.time_seconds / kBatches;
  options.timing.min_batches = kernel.min_repeats;
  options.timing.max_total_seconds = kMaxOverTime * kernel.time_seconds;
  options.timing.flush_cache = kernel.flush_caches;
  options.repeat_timing = options.timing;
  options.drift_interval = kDriftInterval;
  return options;
}

search::Scenario WithTimeout(search::Scenario scenario) {
  if (!std::isfinite(scenario.evaluator.timeout)) scenario.evaluator.timeout = kTimeoutSeconds;
  return scenario;
}

/// Whole numbers of a size, in the order of their names.
std::vector<int64_t> NumbersOf(const Values& size) {
  std::vector<int64_t> numbers;
  for (const auto& [name, value] : size) {
    const auto* const whole = std::get_if<int64_t>(&value);
    numbers.push_back(whole != nullptr ? *whole : std::llround(std::get<double>(value)));
  }
  return numbers;
}

}  // namespace

KernelEvaluator::KernelEvaluator(const search::Scenario& scenario, int jobs)
    : scenario_(WithTimeout(scenario)),
      kernel_(*scenario_.evaluator.kernel),
      jobs_(jobs),
      function_{.language = kernel_.language,
                .source = kernel_.source,
                .name = kernel_.function,
                .returns_time = kernel_.returned_unit > 0},
      compiler_(scenario_.space, scenario_.evaluator),
      options_(OptionsOf(scenario_.evaluator, kernel_.IsOnHost() ? nullptr : &cache_)) {
  trial::PrepareWorkers(jobs, scenario_.evaluator.sandbox);
  source_ = base::ReadFile(kernel_.source);
  for (const Values& size : kernel_.sizes) {
    sizes_.push_back(std::make_unique<TimedSize>(kernel_, size, options_));
  }
  has_reference_ = kernel_.reference == Reference::kNone || kernel_.reference == Reference::kFiles;
}

KernelEvaluator::~KernelEvaluator() = default;

search::EvaluatorMaker KernelEvaluatorMaker(int jobs) {
  return [jobs](const search::Scenario& scenario)
             -> std::unique_ptr<trial::Evaluator<space::Configuration>> {
    if (scenario.evaluator.kind != search::EvaluatorKind::kKernel) return nullptr;
    return std::make_unique<KernelEvaluator>(scenario, jobs);
  };
}

void KernelEvaluator::Submit(trial::TrialId id, const space::Configuration& configuration) {
  waiting_.push_back({id, &configuration});
}

void KernelEvaluator::Cancel() {
  waiting_.clear();
  built_.clear();
}

std::vector<std::string> KernelEvaluator::TakeNotices() { return std::exchange(notices_, {}); }

std::vector<trial::FinishedTrial> KernelEvaluator::Collect(double,
                                                           const std::function<bool()>& stop) {
  if (waiting_.empty() && built_.empty()) return {};
  const trial::TrialId id = built_.empty() ? waiting_.front().id : built_.front().trial.id;
  try {
    if (built_.empty()) {
      const std::vector<Waiting> batch(waiting_.begin(), waiting_.end());
      for (Built& each : Build(batch, function_, stop)) built_.push_back(std::move(each));
      waiting_.clear();
    }
    trial::Outcome outcome = Evaluate(built_.front(), stop);
    built_.pop_front();
    return {{id, std::move(outcome), {}}};
  } catch (const measure::Interrupted&) {
    return {};
  } catch (const SystemError& error) {
    if (built_.empty()) {
      waiting_.pop_front();
    } else {
      built_.pop_front();
    }
    return {{id, std::nullopt, error.what()}};
  }
}

std::vector<KernelEvaluator::Built> KernelEvaluator::Build(std::span<const Waiting> given,
                                                           const KernelFunction& function,
                                                           const std::function<bool()>& stop) {
  std::stop_source stopped;
  std::vector<std::future<std::optional<std::vector<CompiledKernel>>>> futures;
  for (const Waiting& each : given) {
    futures.push_back(std::async(std::launch::async, [&, token = stopped.get_token()] {
      return Compile(function, *each.configuration, token);
    }));
  }
  std::vector<Built> built;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::chrono::duration<double> interval(measure::kStopCheckInterval);
    while (futures[i].wait_for(interval) == std::future_status::timeout) {
      if (stop && stop()) stopped.request_stop();
    }
    auto kernels = futures[i].get();
    if (!kernels) throw measure::Interrupted();
    built.push_back({given[i], function.returns_time, *std::move(kernels)});
  }
  return built;
}

std::optional<std::vector<CompiledKernel>> KernelEvaluator::Compile(
    const KernelFunction& function, const space::Configuration& configuration,
    const std::stop_token& stop) {
  std::vector<CompiledKernel> kernels;
  for (const auto& size : sizes_) {
    if (function.language == KernelDefinition::Language::kOpenCl) {
      kernels.emplace_back();  // the driver compiles it in the runner process
      continue;
    }
    std::optional<CompiledKernel> compiled =
        compiler_.Compile(function, configuration, size->values, stop);
    if (!compiled) return std::nullopt;
    kernels.push_back(*std::move(compiled));
  }
  return kernels;
}

Result<measure::TrialMessage> KernelEvaluator::MessageOf(const Built& built, size_t size,
                                                         const TimedSize& timed) const {
  const space::Configuration& configuration = *built.trial.configuration;
  const Values values = WithParameters(timed.values, *scenario_.space, configuration);
  measure::TrialMessage message;
  message.cut_seconds = std::numeric_limits<double>::infinity();
  measure::KernelCall& call = message.call;
  for (size_t i = 0; i < kernel_.arguments.size(); ++i) {
    const search::KernelArgument& declared = kernel_.arguments[i];
    measure::CallArgument& argument = call.arguments.emplace_back();
    argument.parameter = timed.data.ArrayOf(i);
    if (declared.role == search::KernelArgument::Role::kLocal) {
      const Result<std::vector<int64_t>> shape = ShapeOf(declared, values);
      if (!shape) return shape.error();
      argument.local_bytes = tensor::ByteSize(declared.dtype);
      for (const int64_t extent : *shape) argument.local_bytes *= extent;
    } else if (argument.parameter < 0) {
      Result<std::string> bytes = ScalarBytes(declared, values);
      if (!bytes) return bytes.error();
      argument.scalar = *std::move(bytes);
    }
  }
  if (!built.kernels[size].library.empty()) {
    call.kind = measure::KernelCall::Kind::kFunction;
    call.code = built.kernels[size].library;
    call.symbol = kShimSymbol;
    call.returned_unit = built.returns_time ? kernel_.returned_unit : 0;
    return message;
  }
  const Status described = DescribeOpenCl(configuration, values, timed.values, call);
  if (!described) return described.error();
  return message;
}

Status KernelEvaluator::DescribeOpenCl(const space::Configuration& configuration,
                                       const Values& values, const Values& size,
                                       measure::KernelCall& call) const {
  const Result<LaunchGeometry> geometry = GeometryOf(kernel_, values);
  if (!geometry) return geometry.error();
  auto macros = compiler_.Macros(configuration, size);
  if (!macros) return macros.error();
  call.kind = measure::KernelCall::Kind::kOpenCl;
  call.code = source_;
  call.symbol = kernel_.function;
  call.platform = kernel_.platform;
  call.device = kernel_.device;
  call.groups = geometry->groups;
  call.items = geometry->items;
  for (const std::string& flag : compiler_.Flags(configuration)) {
    call.build_options += flag + " ";
  }
  constexpr std::array<const char*, 3> kGridNames = {"grid_size_x", "grid_size_y", "grid_size_z"};
  for (size_t d = 0; d < kGridNames.size(); ++d) {
    macros->emplace_back(kGridNames[d], fmt::format("{}", geometry->groups[d]));
    const std::string& block = kernel_.block_size_names[d];
    if (!values.contains(block)) macros->emplace_back(block, fmt::format("{}", geometry->items[d]));
  }
  for (const auto& [name, value] : *macros) {
    call.build_options += fmt::format("-D{}={} ", name, value);
  }
  const std::string folder = std::filesystem::path(kernel_.source).parent_path().string();
  call.build_options += fmt::format("-I{}", folder);
  return Ok();
}

trial::Outcome KernelEvaluator::Evaluate(const Built& built, const std::function<bool()>& stop) {
  measure::ThrowIfStopped(stop);
  for (const CompiledKernel& compiled : built.kernels) {
    if (compiled.verdict == trial::Verdict::kOk) continue;
    trial::Outcome outcome = trial::Outcome::Infeasible(compiled.verdict, compiled.reason);
    outcome.Set("build_seconds", compiled.seconds);
    return outcome;
  }
  if (auto failed = PrepareReference(built, stop)) return *std::move(failed);
  trial::Outcome outcome;
  std::vector<double> seconds;
  bool is_cut_short = false;
  for (size_t size = 0; size < sizes_.size(); ++size) {
    trial::Outcome timed = Time(built, size, stop);
    if (!timed.ok()) return timed;
    seconds.push_back(timed.value);
    is_cut_short |= measure::DetailsOf(timed).cut_short;
    outcome = std::move(timed);
  }
  const double unit = search::KernelTimeUnit(scenario_);
  outcome.value = base::GeometricMean(seconds) / unit;
  if (sizes_.size() > 1) {
    measure::MeasurementDetails details = {.cut_short = is_cut_short};
    for (size_t size = 0; size < sizes_.size(); ++size) {
      details.at_sizes.push_back({NumbersOf(sizes_[size]->values), seconds[size]});
    }
    measure::SetDetails(outcome, details);
  }
  return outcome;
}

trial::Outcome KernelEvaluator::Time(const Built& built, size_t size,
                                     const std::function<bool()>& stop) {
  Result<measure::TrialMessage> message = MessageOf(built, size, *sizes_[size]);
  if (!message) {
    return trial::Outcome::Infeasible(trial::Verdict::kBuildError, message.error().message);
  }
  const auto time = repeats_ ? &measure::TaskTimer::Repeat : &measure::TaskTimer::Run;
  TimedSize& timed = *sizes_[size];
  trial::Outcome outcome = (timed.timer.*time)(
      timed.data.task(), *std::move(message), {.build_seconds = built.kernels[size].seconds}, stop);
  if (!outcome.ok() && sizes_.size() > 1) {
    outcome.reason += fmt::format(" (sizes {})", fmt::join(NumbersOf(timed.values), ", "));
  }
  return outcome;
}

std::optional<trial::Outcome> KernelEvaluator::PrepareReference(const Built& built,
                                                                const std::function<bool()>& stop) {
  if (has_reference_) return std::nullopt;
  Waiting reference = built.trial;
  KernelFunction function = function_;
  std::optional<space::Configuration> configuration;
  if (kernel_.reference == Reference::kFunction) {
    function = {.language = kernel_.reference_language,
                .source = kernel_.reference_source,
                .name = kernel_.reference_function};
    configuration = scenario_.default_configuration;
  } else if (kernel_.reference == Reference::kConfiguration) {
    configuration = *scenario_.space->Parse(kernel_.reference_configuration);
  }
  if (configuration) reference.configuration = &*configuration;
  std::optional<trial::Outcome> failed;
  if (kernel_.reference == Reference::kFirst) {
    failed = RunAsReference(built, stop);
    if (failed) return failed;
    notices_.push_back(fmt::format(
        "results are compared with those of {}; a 'reference' would show whether these are right",
        space::ToJson(*scenario_.space, *built.trial.configuration).dump()));
  } else {
    failed = RunAsReference(Build({&reference, 1}, function, stop).front(), stop);
    if (failed) {
      throw InputError(fmt::format("the reference has no results: {}", failed->reason));
    }
  }
  has_reference_ = true;
  return std::nullopt;
}

std::optional<trial::Outcome> KernelEvaluator::RunAsReference(const Built& built,
                                                              const std::function<bool()>& stop) {
  for (size_t size = 0; size < sizes_.size(); ++size) {
    trial::Outcome outcome = RunToKeep(built, size, *sizes_[size], stop);
    if (!outcome.ok()) return outcome;
  }
  return std::nullopt;
}

trial::Outcome KernelEvaluator::RunToKeep(const Built& built, size_t size, TimedSize& timed,
                                          const std::function<bool()>& stop) const {
  const CompiledKernel& compiled = built.kernels[size];
  if (compiled.verdict != trial::Verdict::kOk) {
    return trial::Outcome::Infeasible(compiled.verdict, compiled.reason);
  }
  Result<measure::TrialMessage> message = MessageOf(built, size, timed);
  if (!message) {
    return trial::Outcome::Infeasible(trial::Verdict::kBuildError, message.error().message);
  }
  message->is_reference = true;
  return timed.runner.Run(timed.data.task(), *message, stop);
}

Result<std::vector<std::pair<std::string, std::string>>> KernelEvaluator::RunOnce(
    const space::Configuration& configuration, const std::function<bool()>& stop) {
  // Its results must not take the place of those to compare with.
  if (!once_) once_ = std::make_unique<TimedSize>(kernel_, kernel_.sizes[0], options_);
  const Waiting trial = {0, &configuration};
  const Built built = Build({&trial, 1}, function_, stop).front();
  const trial::Outcome outcome = RunToKeep(built, 0, *once_, stop);
  if (!outcome.ok()) return Error{outcome.reason};
  const measure::TaskData& task = once_->data.task();
  const measure::TaskMemoryView memory(task);
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const measure::TaskParameter& parameter : task.message.parameters) {
    if (parameter.role != tensor::BufferRole::kOutput) continue;
    const std::string_view bytes(reinterpret_cast<const char*>(memory.at(parameter.offset)),
                                 static_cast<size_t>(parameter.ByteCount()));
    outputs.emplace_back(parameter.name,
                         NumpyFile(bytes, parameter.dtype, parameter.ElementCount()));
  }
  return outputs;
}

}  // namespace bayloom::kernel
