// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/network_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "bayloom/record/store.h"

namespace bayloom::cli {

void NetworkOption::AddTo(CLI::App& command) {
  model.AddTo(command)->required();
  command.add_option("--db", database,
                     "Database written by 'bayloom tune'; default MODEL.db, if there is one");
  target.AddTo(command);
}

tuning::TunedNetwork NetworkOption::Load() const {
  const std::string path = database.empty() ? model.DefaultDatabase() : database;
  std::unique_ptr<record::Store> store;
  if (!database.empty() || std::filesystem::exists(path)) {
    store = std::make_unique<record::Store>(path, record::Store::Mode::kReadOnly);
  }
  tuning::TunedNetwork loaded =
      tuning::TunedNetwork::Choose(model.Load(), target.Resolve(), store.get());
  fmt::print(stderr, "{}: {} of {} tasks tuned for {} with {} threads{}\n", model.path,
             loaded.TunedTasks(), loaded.chosen.size(), loaded.target.cpu, loaded.target.cores,
             store ? "" : "; there is no " + path);
  return loaded;
}

}  // namespace bayloom::cli
