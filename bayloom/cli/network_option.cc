#include "bayloom/cli/network_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "bayloom/cli/tuning_subject.h"
#include "bayloom/record/store.h"

namespace bayloom {
namespace {

std::vector<ChosenProgram> ChoosePrograms(const TaskGraph& network, const Target& target,
                                          Store* store) {
  std::vector<ChosenProgram> chosen;
  for (const GraphTask& task : network.tasks) {
    chosen.push_back(ChooseProgram(store, task.workload, target));
  }
  return chosen;
}

}  // namespace

std::vector<const Program*> ChosenNetwork::Programs() const {
  std::vector<const Program*> programs;
  for (const ChosenProgram& program : chosen) programs.push_back(&program.program);
  return programs;
}

int ChosenNetwork::TunedTasks() const {
  return static_cast<int>(std::count_if(chosen.begin(), chosen.end(), [](const auto& program) {
    return program.measured.has_value();
  }));
}

void NetworkOption::AddTo(CLI::App& command) {
  model.AddTo(command)->required();
  command.add_option("--db", database,
                     "Database written by 'bayloom tune'; default MODEL.db, if there is one");
  target.AddTo(command);
}

ChosenNetwork NetworkOption::Load() const {
  ChosenNetwork loaded{model.Load(), target.Resolve(), {}};
  const std::string path = database.empty() ? DefaultDatabase(model) : database;
  std::unique_ptr<Store> store;
  if (!database.empty() || std::filesystem::exists(path)) {
    store = std::make_unique<Store>(path, Store::Mode::kReadOnly);
  }
  loaded.chosen = ChoosePrograms(loaded.network, loaded.target, store.get());
  fmt::print(stderr, "{}: {} of {} tasks tuned for {} with {} threads{}\n", model.path,
             loaded.TunedTasks(), loaded.chosen.size(), loaded.target.cpu, loaded.target.cores,
             store ? "" : "; there is no " + path);
  return loaded;
}

ChosenNetwork Untuned(const ChosenNetwork& network) {
  return {network.network, network.target,
          ChoosePrograms(network.network, network.target, nullptr)};
}

}  // namespace bayloom
