#include "bayloom/cli/network_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "bayloom/record/store.h"

namespace bayloom {

void NetworkOption::AddTo(CLI::App& command) {
  model.AddTo(command)->required();
  command.add_option("--db", database,
                     "Database written by 'bayloom tune'; default MODEL.db, if there is one");
  target.AddTo(command);
}

TunedNetwork NetworkOption::Load() const {
  const std::string path = database.empty() ? model.DefaultDatabase() : database;
  std::unique_ptr<Store> store;
  if (!database.empty() || std::filesystem::exists(path)) {
    store = std::make_unique<Store>(path, Store::Mode::kReadOnly);
  }
  TunedNetwork loaded = TunedNetwork::Choose(model.Load(), target.Resolve(), store.get());
  fmt::print(stderr, "{}: {} of {} tasks tuned for {} with {} threads{}\n", model.path,
             loaded.TunedTasks(), loaded.chosen.size(), loaded.target.cpu, loaded.target.cores,
             store ? "" : "; there is no " + path);
  return loaded;
}

}  // namespace bayloom
