// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/App.hpp>
#include <memory>

#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_kind.h"

namespace bayloom::cli {

void AddMapCommand(CLI::App& app) {
  auto options = std::make_shared<MapArguments>();
  CLI::App* map = app.add_subcommand("map", "Map an operation or a network onto an accelerator");
  AddMapOptions(*options, *map);
  map->callback([options] {
    options->Check();
    const MapKind kind = KindOf(*options);
    options->PrepareOut(kind.writes_folder);
    kind.run(*options);
  });
}

}  // namespace bayloom::cli
