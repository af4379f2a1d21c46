// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// Writes expressions as a person would, with as few parentheses as needed.
class ExprPrinter {
 public:
  ExprPrinter(std::span<const Iter> iters, std::span<const Buffer> buffers)
      : iters_(iters), buffers_(buffers) {}

  std::string Print(const Expr& e) const { return Print(e, 0); }
  /// "i, j + 1, 0".
  std::string List(std::span<const Expr> items) const;
  std::string BufferName(BufferId id) const;

 private:
  /// `context`: how strongly the context binds; weaker operators need parentheses.
  std::string Print(const Expr& e, int context) const;
  std::string PrintCall(const Expr& e) const;
  std::string PrintInfix(const ExprNode& node, int context) const;

  std::span<const Iter> iters_;
  std::span<const Buffer> buffers_;
};

}  // namespace bayloom::tensor
