// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/target/target.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The options --target and --threads, which say what code is made for.
struct TargetOption {
  std::string name = "native";
  int threads = 0;  ///< 0: all processors this process may run on

  void AddTo(CLI::App& command);
  /// Throws InputError for a target there is not.
  target::Target Resolve() const;
};

}  // namespace bayloom::cli
