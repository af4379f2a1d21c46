// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/version.h"

namespace bayloom::base {

std::string_view Version() { return BAYLOOM_VERSION; }

}  // namespace bayloom::base
