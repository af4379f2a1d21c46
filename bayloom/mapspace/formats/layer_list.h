// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/problem.h"
#include "bayloom/yaml/template/template.h"

namespace bayloom::mapspace {

/// A layer of a file that lists a network's.
struct NamedProblem {
  std::string name;
  Problem problem;
};

/// Whether a file is read by ReadLayers, by its name: `.yaml`, `.yml`, `.m`.
bool IsLayerList(std::string_view file);

/// The multiplications of a network in the file of another mapper, in its order, once for every
/// layer. Tensors are called Weights, Inputs and Outputs.
///
/// `.yaml`: a workload of ZigZag, a list of layers with `equation`, `dimension_relations`,
/// `loop_dims`, `loop_sizes` and `operand_precision`, which gives tensors their word widths: of
/// outputs that of partial sums. Layers that multiply nothing (pools, additions) are left out.
///
/// or the workload of AccelForge: `einsums`, as text or with `tensor_accesses`, each of which is
/// mapped by itself. Its input is the tensor that `renames` calls so, else the one that an earlier
/// einsum computes, else the first. Those of one tensor (copies, softmax) are left out. Files may
/// be templates, to whose variables `variables` gives values.
///
/// `.m`: a network of MAESTRO, whose layers are CONV, DSCONV or GEMM. Y and X are sizes of inputs
/// with their padding.
///
/// Throws InputError for what cannot be read or would mean something else here, in one line.
std::vector<NamedProblem> ReadLayers(const std::string& file,
                                     const yaml::TemplateVariables& variables = {});

}  // namespace bayloom::mapspace
