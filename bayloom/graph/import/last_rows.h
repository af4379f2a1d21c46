// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace bayloom::graph {

/// Changes the model so that of these outputs [.., rows, columns] only the last row is computed:
/// the matrix product that they come from, through operators on single elements, reads the last row
/// of its left operand. Throws InputError where an output is none, or comes from something else.
void KeepLastRows(onnx::ModelProto& model, const std::vector<std::string>& outputs);

}  // namespace bayloom::graph
