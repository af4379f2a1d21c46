// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {

/// The programs of a network, of which some are replaced.
struct SharingPrograms {
  std::vector<const tensor::Program*> programs;  ///< one per task
  std::vector<std::unique_ptr<tensor::Program>> replaced;
};

/// Lets programs that read little of a large constant, such as rows of an embedding, take it in the
/// form in which others read it, or its transposition: a language model's tied weights are in
/// memory once, in the order in which the product reads them.
SharingPrograms ShareForms(const TaskGraph& network,
                           const std::vector<const tensor::Program*>& programs);

}  // namespace bayloom::graph
