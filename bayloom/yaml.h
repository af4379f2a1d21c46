// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module yaml: YAML and JSON values that know their place, so that errors name file, line and key.

#include "bayloom/yaml/template/template.h"
#include "bayloom/yaml/yaml_value.h"
