// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::experimental {

/// Adds all experimental variants to the registries of the modules below, so that they can be
/// chosen by name. A program calls it when it starts; a second call changes nothing.
void Register();

}  // namespace bayloom::experimental
