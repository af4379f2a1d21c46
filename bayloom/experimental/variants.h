// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::experimental {

// One file each, beside the variants.
void RegisterStrategies();
void RegisterSchedulers();
void RegisterSelections();
void RegisterOptimizers();
void RegisterTransferMethods();
void RegisterEncodings();

}  // namespace bayloom::experimental
