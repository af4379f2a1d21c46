// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/tasks.h"

namespace bayloom::graph {

/// The C sources of a package (package.h), as text.

/// The public header.
std::string PackageHeader(const TaskGraph& network, const std::string& name);
/// The functions the header declares, over kernels `kernel_<task>` and the constants' symbol.
/// `shared_bytes` and `worker_bytes`: workspace of the kernel that needs most.
std::string PackageSource(const NetworkPlan& plan, const std::string& name, int64_t shared_bytes,
                          int64_t worker_bytes);
/// Assembly that includes a file with the constants as symbol `<name>_constants`.
std::string ConstantsAssembly(const std::string& file, const std::string& name);
/// The linker's version script: only the functions of the header are visible.
std::string VersionScript(const std::string& name);

}  // namespace bayloom::graph
