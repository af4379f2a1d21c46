// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/yaml/yaml_value.h"

namespace bayloom::yaml {

/// YAML whose lines come from several files.
struct ComposedText {
  /// Lines of `text` from `first` on, counted from 0, that follow each other in a file, the first
  /// of them its line `number`, counted from 1.
  struct Run {
    int64_t first = 0;
    std::shared_ptr<const std::string> file;
    int64_t number = 1;
  };

  std::string text;
  /// Where the lines of `text` were written, up to the next run each.
  std::vector<Run> lines;
  /// What a scalar `!include_loaded K` stands for.
  std::vector<YamlValue> included;
};

}  // namespace bayloom::yaml
