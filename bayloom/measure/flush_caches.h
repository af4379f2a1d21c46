// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::measure {

/// Writes more memory than the last-level cache holds.
void FlushCaches();

}  // namespace bayloom::measure
