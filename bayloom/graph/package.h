// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/codegen/link.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {

/// What a network's code for one target is made from.
struct PackageVariant {
  target::Target target;
  std::vector<const tensor::Program*> programs;  ///< one per task of the network
  /// The network as it is divided for this target; null: as its shape has it.
  const TaskGraph* network = nullptr;
  Branches branches = Branches::kInTurn;
  std::vector<SmallProgram> small = {};  ///< programs of the divided network besides
};

/// A network for inputs of one shape: the same model, imported with other extents.
struct PackageShape {
  std::string label;  ///< for people: "sequence=16"; empty where there is only one
  const TaskGraph* network;
  /// One for each target, the same in all shapes; the targets are of one kind.
  std::vector<PackageVariant> variants;
};

/// What WritePackage made.
struct Package {
  std::string library;         ///< path of the library
  std::string header;          ///< path of the C header that describes it
  int64_t constant_bytes = 0;  ///< of the library: weights as its programs read them
};

/// Turns a network into a library with a C interface, and its header:
///
///     resnet18_model* model;
///     int error = resnet18_create(BAYLOOM_ABI_VERSION, &model);
///     if (error == BAYLOOM_OK) error = resnet18_run(model, inputs, 1, outputs, 1);
///     if (error != BAYLOOM_OK) puts(resnet18_error_text(error));
///     resnet18_destroy(model);
///
/// For GPUs the library holds modules of device code, and loads NVIDIA's driver when a model is
/// created; calls of a run are one graph.
///
/// The library holds the compiled kernels for each of the variants, the weights in their final
/// order, and the thread pool; it needs only the C library. A model uses the variant with
/// the most features among those that the processor can run; where it can run none, creating one
/// fails. With several shapes a run takes the one whose tensors have the sizes in bytes that the
/// call gives; weights and kernels that shapes share are there once. The files are
/// `<directory>/lib<name>.so`, or what the form has in its place (codegen/link.h), and
/// `<directory>/<name>.h`; both appear whole or not at all.
///
/// Throws InputError when the name is none that ToPackageName returns, two shapes have tensors of
/// the same sizes, the directory is unusable or this build makes no libraries for the targets'
/// kind, SystemError when the linker or the disk fails.
Package WritePackage(std::span<const PackageShape> shapes, const std::string& directory,
                     const std::string& name,
                     codegen::LibraryForm form = codegen::LibraryForm::kShared);
/// The same for one shape.
Package WritePackage(const TaskGraph& network, std::span<const PackageVariant> variants,
                     const std::string& directory, const std::string& name);

/// A text, such as a file's name, as the name of a package: an identifier of C and C++ whose
/// derived names (NAME_create, NAME.h, libNAME.so) the system does not use.
std::string ToPackageName(const std::string& text);

}  // namespace bayloom::graph
