// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {

/// What WritePackage made.
struct Package {
  std::string library;  ///< path of the shared library
  std::string header;   ///< path of the C header that describes it
};

/// Turns a network into a shared library with a C interface, and its header:
///
///     resnet18* model = resnet18_create();
///     resnet18_run(model, inputs, outputs);
///     resnet18_destroy(model);
///
/// The library holds the compiled kernels, the weights in their final order, and the thread pool;
/// it needs nothing but the C library. The files are `<directory>/lib<name>.so` and
/// `<directory>/<name>.h`; both appear whole or not at all.
///
/// `name` has to be a C identifier. Uses the system's C compiler (`CC`, else `cc`) to link. Throws
/// InputError when the name or the directory is unusable or there is no compiler, SystemError when
/// the compiler or the disk fails.
Package WritePackage(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
                     const target::Target& target, const std::string& directory,
                     const std::string& name);

/// The text as a C identifier: other characters become underscores.
std::string ToIdentifier(const std::string& text);

}  // namespace bayloom::graph
