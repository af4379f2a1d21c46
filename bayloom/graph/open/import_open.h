// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <unordered_map>

#include "bayloom/graph/compared_imports.h"
#include "bayloom/graph/folded_constants.h"
#include "bayloom/graph/found_lengths.h"
#include "bayloom/graph/import.h"

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace bayloom::graph {

/// What imports of one model share.
struct KnownConstants {
  std::unordered_map<const onnx::TensorProto*, FoldedConstants::Constant> initializers;
  FoldedConstants folded;
};

/// An import that can be compared with one for other lengths (GraphBuilder::CompareLengths).
Graph ImportToCompare(const std::string& path, const onnx::ModelProto& model,
                      const ImportOptions& options, KnownConstants& known, ComparedImports& imports,
                      FoundLengths& found, bool ratios = false);

/// A model as a graph in which the dimensions that options.symbols name are open, and those whose
/// lengths the network finds (Graph::found), with the bounds of all values and iterators. It is
/// imported for some lengths, and generalized from these (generalize.h); others confirm it. Throws
/// InputError, without the path, for what is not the same network for all lengths, saying from
/// which on it is.
Graph ImportOpen(const std::string& path, const onnx::ModelProto& model,
                 const ImportOptions& options);

}  // namespace bayloom::graph
