// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/store_option.h"

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "bayloom/cli/help.h"
#include "bayloom/cli/output.h"

namespace bayloom::cli {

void StoreOption::AddTo(CLI::App& command) {
  Advanced(command.add_flag("--no-store", off,
                            "Neither use nor keep programs of other tunings, which are in the\n"
                            "file BAYLOOM_STORE, else in ~/.local/share/bayloom/programs.db"));
}

tuning::UserStore StoreOption::Open() const {
  return tuning::UserStore(
      off ? std::nullopt : tuning::UserStore::DefaultPath(), tuning::UserStore::Mode::kWrite,
      [](const std::string& warning) { Say("warning: {}\n", warning); },
      [](const std::string& notice) { Say("{}\n", notice); });
}

}  // namespace bayloom::cli
