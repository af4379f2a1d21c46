// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/user_store.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<target::MachineModel> UndisturbedMachine(record::Store& store,
                                                       const target::Target& target) {
  const std::optional<record::TargetId> known = store.FindTarget(target);
  return known ? store.TargetOf(*known).machine : std::nullopt;
}

/// That of a target without a machine is provisional.
std::optional<target::MachineModel> DisturbedMachine(record::Store& store,
                                                     const target::Target& target) {
  const std::optional<record::TargetId> known = store.FindTarget(target);
  const std::optional<std::string> text = known ? store.MachineOf(*known) : std::nullopt;
  if (!text) return std::nullopt;
  try {
    return target::MachineModelFromJson(base::ParseJsonOrDiscard(*text));
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // damaged, and measured again
  }
}

/// What tells this build of the program from others: when its file was written, and its size.
uint64_t HashOfThisBuild() {
  const std::filesystem::path program = "/proc/self/exe";
  std::error_code unknown;
  base::Hasher hasher;
  hasher.Add(static_cast<uint64_t>(std::filesystem::file_size(program, unknown)));
  const auto written = std::filesystem::last_write_time(program, unknown).time_since_epoch();
  return hasher.Add(static_cast<uint64_t>(written.count())).Digest();
}

}  // namespace

std::optional<std::string> UserStore::DefaultPath() {
  const std::string named = Environment("BAYLOOM_STORE");
  if (named == "off") return std::nullopt;
  if (!named.empty()) return named;
  std::filesystem::path data = Environment("XDG_DATA_HOME");
  if (!data.is_absolute()) {  // as the XDG base directory specification has it
    const std::filesystem::path home = Environment("HOME");
    if (!home.is_absolute()) return std::nullopt;
    data = home / ".local" / "share";
  }
  return (data / "bayloom" / "programs.db").string();
}

UserStore::UserStore(std::optional<std::string> path, Mode mode, Listener warning, Listener notice)
    : mode_(mode), warning_(std::move(warning)), notice_(std::move(notice)) {
  if (!path) return;
  try {
    if (mode == Mode::kRead) {
      if (!std::filesystem::exists(*path)) return;
      store_ = std::make_unique<record::Store>(*path, record::Store::Mode::kReadOnly);
      samples_ = std::make_unique<record::SampleStore>(*path, record::SampleStore::Mode::kReadOnly);
      choices_ = std::make_unique<record::ChoiceStore>(*path, record::Store::Mode::kReadOnly,
                                                       HashOfThisBuild());
    } else {
      const std::filesystem::path folder = std::filesystem::path(*path).parent_path();
      std::error_code failed;  // a home that cannot be written to is no store, and no news
      if (!folder.empty()) std::filesystem::create_directories(folder, failed);
      if (failed) return;
      store_ = std::make_unique<record::Store>(*path);
      samples_ = std::make_unique<record::SampleStore>(*path);
      choices_ = std::make_unique<record::ChoiceStore>(*path, record::Store::Mode::kReadWrite,
                                                       HashOfThisBuild());
    }
  } catch (const std::exception& error) {
    store_.reset();
    warning_(fmt::format("the store of known programs is not used: {}",
                         base::MessageInOneLine(error.what())));
  }
}

void UserStore::With(const std::function<void(record::Store&)>& use) {
  if (!store_) return;
  try {
    use(*store_);
  } catch (const std::exception& error) {
    warning_(fmt::format("the store of known programs is not used: {}",
                         base::MessageInOneLine(error.what())));
    store_.reset();
  }
}

target::Target UserStore::WithMachine(target::Target target) {
  if (target.machine || !store_) return target;
  target.machine = KnownMachine(target);
  if (!target.machine) target.machine = ProvisionalMachine(target);
  if (target.machine || mode_ == Mode::kRead) return target;
  const bool is_gpu = target.kind() == target::TargetKind::kNvidiaGpu;  // its driver tells at once
  if (!is_gpu && codegen::MissingFeature(target)) return target;
  if (!is_gpu && notice_) notice_("Measuring this machine, once for all models: 5 to 25 seconds");
  const Result<measure::MeasuredMachine> machine = measure::MeasuredMachineOf(target);
  if (!machine) return target;
  target.machine = machine->model;
  if (machine->disturbed) {
    warning_(fmt::format("{}: programs that are not tuned may be badly chosen",
                         measure::DescribeMeasuredBusy(*machine->disturbed)));
  }
  KeepMachine(target, machine->disturbed.has_value());
  return target;
}

std::optional<target::MachineModel> UserStore::KnownMachine(const target::Target& target) {
  std::optional<target::MachineModel> machine;
  With([&](record::Store& store) { machine = UndisturbedMachine(store, target); });
  return machine;
}

std::optional<target::MachineModel> UserStore::ProvisionalMachine(const target::Target& target) {
  std::optional<target::MachineModel> machine;
  With([&](record::Store& store) { machine = DisturbedMachine(store, target); });
  return machine;
}

void UserStore::KeepMachine(const target::Target& target, bool is_provisional) {
  if (mode_ == Mode::kRead || !target.machine) return;
  With([&](record::Store& store) {
    if (!is_provisional) {
      store.AddTarget(target);
      return;
    }
    target::Target without = target;
    without.machine.reset();
    store.SetMachine(store.AddTarget(without), target::MachineModelToJson(*target.machine).dump());
  });
}

std::optional<MeasuredCandidate> UserStore::Find(const sketch::SpaceGenerator& space,
                                                 const sketch::DerivationChoice& derivations) {
  std::optional<MeasuredCandidate> best;
  With([&](record::Store& store) { best = RestoreBest(store, space, &derivations); });
  return best;
}

std::vector<sketch::Candidate> UserStore::Adapt(const sketch::SpaceGenerator& space, int count) {
  std::vector<sketch::Candidate> adapted;
  With([&](record::Store& store) {
    const uint64_t target = target::HashOf(space.target());
    if (!adapted_ || adapted_target_ != target) {
      adapted_.emplace(store, space.target());
      adapted_target_ = target;
    }
    adapted = adapted_->For(space, count);
  });
  return adapted;
}

void UserStore::Add(const std::string& name, const target::Target& target,
                    std::span<const Known> programs) {
  With([&](record::Store& store) {
    // What was measured for a tuning may have been disturbed; WithMachine adds what was not.
    target::Target without_machine = target;
    without_machine.machine.reset();
    const record::TargetId target_id = store.AddTarget(without_machine);
    std::vector<record::StoredTrial> better;
    for (const Known& known : programs) {
      const record::TaskId task = store.AddTask(known.workload);
      const std::vector<record::StoredTrial> best = store.BestOf(task, target_id, 1);
      if (!best.empty() && best[0].outcome.value <= known.program.outcome.value) continue;
      record::StoredTrial& trial = better.emplace_back();
      trial.task = task;
      trial.target = target_id;
      trial.candidate = CandidateText(known.program.candidate);
      trial.key = known.program.candidate.hash;
      trial.proposer = "tune";
      trial.outcome = known.program.outcome;
    }
    if (better.empty()) return;
    record::RunRecord run;
    run.name = name;
    run.definition = "{}";
    run.target = target_id;
    run.objective = "seconds";
    run.finished = true;
    const record::RunId id = store.BeginRun(run).id;
    for (record::StoredTrial& trial : better) trial.run = id;
    store.AddTrials(better, 0);
    store.SetFinished(id, true);
  });
}

std::optional<std::string> UserStore::ChoiceOf(uint64_t key) {
  std::optional<std::string> choice;
  With([&](record::Store&) { choice = choices_->Find(key); });
  return choice;
}

void UserStore::KeepChoice(uint64_t key, const std::string& choice) {
  if (mode_ == Mode::kRead) return;
  With([&](record::Store&) { choices_->Keep(key, choice); });
}

void UserStore::AddMeasured(const target::Target& target, const tensor::Workload& workload,
                            std::vector<record::MeasuredSample> measured) {
  With([&](record::Store& store) {
    EarlierTrials(store, *samples_).Add(target, workload, std::move(measured));
  });
}

std::optional<TrialPrior> UserStore::Prior(const target::Target& target) {
  std::optional<TrialPrior> prior;
  With([&](record::Store& store) {
    prior = EarlierTrials(store, *samples_).Learn(target, mode_ == Mode::kWrite);
  });
  return prior;
}

}  // namespace bayloom::tuning
