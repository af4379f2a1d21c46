// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Whether rows of a buffer that is read below a tensorized loop run along that loop, the depth of
/// the product; nullopt for buffers that are not. In the shared memory of a GPU the rows of such a
/// buffer are padded (target::PaddedRowBytes).
std::optional<bool> MatrixRowsRunAlongDepth(const Program& program, BufferId buffer);

}  // namespace bayloom::tensor
