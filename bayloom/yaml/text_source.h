// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/yaml/composed_text.h"

namespace YAML {
struct Mark;
}

namespace bayloom::yaml {

/// Where the text of a document comes from.
struct TextSource {
  std::string name;
  /// Empty where all lines are those of the file `name`.
  std::vector<ComposedText::Run> lines;

  /// "matmul.yaml:12:9: ", what messages begin with; without numbers where the mark has none.
  std::string Place(const YAML::Mark& mark) const;
};

}  // namespace bayloom::yaml
