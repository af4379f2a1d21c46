// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The options --target, --threads and --device, which say what code is made for.
struct TargetOption {
  std::string name = "native";
  int threads = 0;            ///< 0: all processors this process may run on
  std::optional<int> device;  ///< of several GPUs

  void AddTo(CLI::App& command);
  bool IsGpu() const;
  /// The target, wherever its code runs. Throws InputError for one there is not.
  target::Target Named() const;
  /// The target, whose code is to run here. Throws InputError for a target there is not, and for
  /// one that this machine cannot be: it has not the features, not so many
  /// processors, no GPU of the architecture or no driver for it.
  target::Target Resolve() const;
  /// The targets of a list, "x86-64-v2,native", whose code is to run elsewhere. Throws InputError
  /// for one there is not, and for one named twice.
  std::vector<target::Target> ResolveAll() const;
};

}  // namespace bayloom::cli
