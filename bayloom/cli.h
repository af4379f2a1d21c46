// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module cli: the `bayloom` program: one file per subcommand, which parses arguments, calls and
/// prints.

#include "bayloom/cli/command_line.h"
