// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace bayloom::mapspace {

/// Whether a text that names something shipped, or a file, is a file.
inline bool LooksLikeYamlFile(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".jinja") ||
         name.ends_with(".jinja2") || name.ends_with(".m") ||
         name.find('/') != std::string_view::npos;
}

}  // namespace bayloom::mapspace
