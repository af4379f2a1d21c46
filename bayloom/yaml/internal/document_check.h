// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace YAML {
struct Mark;
}

namespace bayloom::yaml {

/// "matmul.yaml:12:9: ", what messages begin with; without numbers where the mark has none.
std::string Place(const std::string& source, const YAML::Mark& mark);

/// Throws InputError, with the place, unless the text is one YAML document in UTF-8 that stays
/// within the limits of base/text_limits.h when its aliases are followed. Takes time and memory in
/// proportion to the text, however much its aliases repeat. Throws YAML::Exception for what is no
/// YAML.
void CheckDocument(const std::string& text, const std::string& source);

}  // namespace bayloom::yaml
