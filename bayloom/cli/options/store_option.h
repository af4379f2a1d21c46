// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tuning/user_store.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The option --no-store, and the store of the programs that this user's tunings have found.
struct StoreOption {
  bool off = false;

  void AddTo(CLI::App& command);
  /// The store that the environment names, with warnings on standard error.
  tuning::UserStore Open() const;
};

}  // namespace bayloom::cli
