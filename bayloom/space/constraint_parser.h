// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/space/expression.h"

namespace bayloom::space {

/// Reads a known constraint written as text: an expression over parameters' names that holds where
/// it is true, or not zero. C-like and Python-like spellings mix freely.
///
///     MWG % (MDIMC * VWM) == 0                       32 <= block_x * block_y <= 1024
///     !use_padding || block_x % 32 != 0              not use_padding or block_x % 32 != 0
///     vector in [1, 2, 4] and tile[2] >= vector      layout == "row" -> unroll > 1
///     order_0 == 2                                   order_i2 < order_i0
///
/// From what binds loosest to what binds tightest, precedences being Python's:
///
///     a if c else b      c ? a : b
///     a -> b             also =>, implies: b, unless a is false
///     or ||              and &&              not
///     == != < <= > >=    in [..], not in [..]; chains compare neighbours, as in Python
///     |  ^  &  << >>     on bits of whole numbers; of truth values `or`, `!=`, `and`
///     + -                * / // %           / divides exactly, // and % round downwards
///     - + ~ !            **
///
/// Functions: min, max, abs, floor, ceil, round, int, sqrt, log, log2, exp, pow, gcd. Constants:
/// true, false.
///
/// Names mean numbers; of a categorical parameter, the number its text spells if all its values
/// spell numbers, else its rank. Compared with a text in quotes they mean the text; `<` between
/// texts is for ordinal parameters. Elements of permutations and factorizations: `p[k]` (from the
/// end if negative) and, of permutations, `p_k`, the item at place k, and `p_ik`, the place of item
/// k. A comparison with what has no value (dividing by zero) is false.
///
/// Gives the expressions that must all be true. Fails with one line that says at which column of
/// the text what is wrong.
Result<std::vector<int>> ParseConstraint(std::string_view text,
                                         const ExpressionGraph::Parameters& parameters,
                                         ExpressionGraph& graph);

/// The same of a condition for a parameter to be active.
Result<std::vector<int>> ParseCondition(std::string_view text,
                                        const ExpressionGraph::Parameters& parameters,
                                        ExpressionGraph& graph);

/// The same language where a number is asked for: truth values are 1 and 0, texts are none.
Result<int> ParseArithmetic(std::string_view text, const ExpressionGraph::Parameters& parameters,
                            ExpressionGraph& graph);

}  // namespace bayloom::space
