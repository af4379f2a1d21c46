// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/network_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "bayloom/base/one_line.h"
#include "bayloom/cli/internal/output.h"
#include "bayloom/record/store.h"

namespace bayloom::cli {

void NetworkOption::AddTo(CLI::App& command) {
  model.AddTo(command)->required();
  command.add_option("--db", database, "Database of 'bayloom tune' with the tuned programs")
      ->option_text("FILE")
      ->default_str("MODEL.db, if it exists");
  target.AddTo(command);
}

tuning::TunedNetwork NetworkOption::Load() const { return LoadFor({target.Resolve()}).front(); }

std::vector<tuning::TunedNetwork> NetworkOption::LoadForAll() const {
  return LoadFor(target.ResolveAll());
}

std::vector<tuning::TunedNetwork> NetworkOption::LoadFor(
    const std::vector<target::Target>& targets) const {
  const std::string path = database.empty() ? model.DefaultDatabase() : database;
  std::unique_ptr<record::Store> store;
  if (!database.empty() || std::filesystem::exists(path)) {
    store = std::make_unique<record::Store>(path, record::Store::Mode::kReadOnly);
  }
  const graph::TaskGraph network = model.Load();
  std::vector<tuning::TunedNetwork> all;
  for (const target::Target& wanted : targets) {
    const tuning::TunedNetwork& loaded =
        all.emplace_back(tuning::TunedNetwork::Choose(network, wanted, store.get()));
    Say("{}: {} of {} tasks tuned for {} with {} threads{}\n", base::InOneLine(model.path, 200),
        loaded.TunedTasks(), loaded.chosen.size(), loaded.target.cpu, loaded.target.cores,
        store ? "" : "; there is no " + base::InOneLine(path, 200));
  }
  return all;
}

}  // namespace bayloom::cli
