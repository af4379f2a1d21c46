// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/report/table.h"
#include "bayloom/search/context_table.h"
#include "bayloom/search/context_tree.h"

namespace bayloom::report {

/// The best configuration of each context, one a row, with how much better it is than the first.
Table ContextRows(const search::ContextTable& table);

/// "3 leaves for 18 contexts: 0.4 % worse than the best of each in the mean, 1.3 % at most (M=64)".
std::string LossText(const search::ContextTable& table, const search::ContextTree& tree);

/// {"name", "objective", "goal", "contexts": [names], "table": [{"context", "configuration",
/// "value", "first", "trials", "tree_loss"}], "tree", "loss": {"leaves", "mean", "worst",
/// "unknown"}}. A node of the tree is {"context", "below" or "in", "then", "else"}, or
/// {"configuration"}. Values are null where there are none.
nlohmann::json ContextJson(const search::ContextTable& table, const search::ContextTree& tree);

/// The tree in the form that the file's ending asks for:
///
///     .json   ContextJson
///     .h      macros of C for the parameters, by preprocessor conditions over macros of the
///             contexts' names
///     .c      a function of C that returns a structure
///     .py     a function of Python that returns a dictionary
///
/// Throws InputError for another ending, and for names and values that the form cannot express.
std::string ContextFile(const search::ContextTable& table, const search::ContextTree& tree,
                        const std::string& path);
/// Throws InputError for a file whose ending names none of these forms, before there is a table.
void CheckContextFile(const std::string& path);

}  // namespace bayloom::report
