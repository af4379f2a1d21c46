// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/base/result.h"
#include "bayloom/cli/show.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/printable.h"

namespace bayloom::cli {

void ShowArchitecture(const ShowOptions& options) {
  if (options.json || options.run || options.task || options.why) {
    throw InputError("show: --arch prints a file; no other option goes with it");
  }
  const std::string& name = options.architecture;
  if (mapspace::IsArchitectureFile(name)) {
    const mapspace::Architecture read = mapspace::LoadArchitecture(name);
    fmt::print("{}", report::InLines(mapspace::PrintArchitectureYaml(read)));
  } else {
    fmt::print("{}", mapspace::ShippedArchitectureFile(name));
  }
}

}  // namespace bayloom::cli
