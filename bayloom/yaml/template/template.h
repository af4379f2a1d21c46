// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "bayloom/yaml/yaml_value.h"

namespace bayloom::yaml {

/// What variables of a template are, by name. A text that is a number as it would be printed, or
/// true or false, is that.
using TemplateVariables = std::map<std::string, std::string>;

/// Loads a YAML file as the front end of Timeloop's version 0.4 does: what stands in `{{...}}`,
/// `{%...%}` and `{#...#}` is Jinja, of which this is read:
///
///     {{expression}}                     its value, as text
///     {% set name = expression %}
///     {% if expression %} ... {% elif expression %} ... {% else %} ... {% endif %}
///
/// Expressions have texts, numbers, True, False, None, variables, `or`, `and`, `not`, comparisons,
/// `~` (texts side by side), `+ - * / // %`, `a if c else b`, the filter `default(value)` and these
/// functions, to which paths are relative to the file and to what add_to_path added:
///
///     cwd()                    the folder of the file
///     add_to_path(folder)      folders in which files are looked for
///     find_path(file)          the first of that name
///     path_exists(file)
///     include(file, 'a.b')     what the file, a template itself, has under a.b; its top without
///     include_all(pattern, 'a.b')   the same of all files of the pattern: their lists in one
///     include_text(pattern)    the text of the files
///
/// Variables that are not known are refused except by `default`. The keys `<<` and `<<<` of a map
/// merge a map, or a list of them, into it: what the map says itself stays; with `<<<` maps in it
/// are merged, too, and lists appended, except those with the tag `!nomerge`.
///
/// Values know their place in the file that they were written in. Throws InputError, for a template
/// with file, line and expression.
YamlValue LoadTemplate(const std::string& path, const TemplateVariables& variables = {});

}  // namespace bayloom::yaml
