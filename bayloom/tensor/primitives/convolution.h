// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/base/result.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// A convolution of an image [batch, rows, columns, channels] with weights
/// [kernel rows, kernel columns, channels, outputs], of stride and dilation 1, without groups:
///
///     output[n, h, w, k] = sum over r, s, c: image[n, h + r, w + s, c] * weights[r, s, c, k]
struct Convolution {
  BlockId block = -1;
  BufferId image = -1;
  BufferId weights = -1;
  int64_t batch = 0;
  int64_t rows = 0;     ///< of the output
  int64_t columns = 0;  ///< of the output
  int64_t channels = 0;
  int64_t outputs = 0;  ///< channels of the output
  int64_t kernel_rows = 0;
  int64_t kernel_columns = 0;
  Bound batch_bound = {}, row_bound = {}, column_bound = {};  ///< of the output
};

/// The block as a convolution, which no primitive but those that inline has touched; or why it is
/// none.
Result<Convolution> AsConvolution(const Program& program, BlockId block);

}  // namespace bayloom::tensor
