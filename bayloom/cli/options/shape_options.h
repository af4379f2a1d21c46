// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/import.h"
#include "bayloom/graph/partial.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// One way of giving a model's open dimensions their extents.
struct ModelShape {
  /// What tells it from the others: "batch=1 sequence=64", dimensions with several values only;
  /// empty if there are no others.
  std::string label;
  graph::ImportOptions options;
};

/// The options --dim, --bound, --sizes, --shape, --freeze, --last-row, --cache and --activations.
struct ShapeOptions {
  std::vector<std::string> dimensions;  ///< "sequence=64,128", "sequence=1..512", "total=past+1"
  std::vector<std::string> bounds;      ///< "boxes=300"
  std::string sizes;                    ///< a file (SeenSizes)
  std::vector<std::string> shapes;      ///< "input=1x3x224x224"
  std::vector<std::string> frozen;      ///< "rate=16000", "axes=1,2", "table=table.pb"
  std::vector<std::string> last_rows;   ///< "logits"
  std::string cache;                    ///< "f16"; empty: as the model has them
  std::string activations = "model";

  void AddTo(CLI::App& command);
  /// Every combination of the values and ranges, of each dimension the values first. Throws
  /// InputError.
  std::vector<ModelShape> All() const;
  /// The options as they are written on a command line.
  std::vector<std::string> Arguments() const;
  /// What they give: "batch=1", "image=1x3x224x224".
  std::vector<std::string> Given() const;
};

/// "--dim batch=1 --dim sequence=128": options that would give what is missing, as examples.
std::string SuggestShapes(const std::vector<graph::OpenDimension>& dimensions,
                          const std::vector<std::string>& shapeless);

/// ImportOnnx; what the model leaves open is explained with the options that give it.
graph::Graph ImportWithAdvice(const std::string& path, const graph::ImportOptions& options);
/// The same for ImportPartial.
graph::PartialNetwork ImportPartialWithAdvice(const std::string& path,
                                              const graph::ImportOptions& options);

}  // namespace bayloom::cli
