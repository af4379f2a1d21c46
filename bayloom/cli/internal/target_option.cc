// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/target_option.h"

#include <CLI/App.hpp>

#include "bayloom/base/result.h"
#include "bayloom/cli/internal/at_least_one.h"
#include "bayloom/codegen/host.h"

namespace bayloom::cli {

void TargetOption::AddTo(CLI::App& command) {
  command.add_option("--target", name, "Machine to make code for; 'native' is this one")
      ->capture_default_str();
  command
      .add_option("--threads", threads, "Threads that the code may use; the default is all cores")
      ->check(AtLeastOne());
}

target::Target TargetOption::Resolve() const {
  if (name != "native") {
    throw InputError("--target: there is no target '" + name + "'; the only one is native");
  }
  return codegen::HostTarget(threads);
}

}  // namespace bayloom::cli
