// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/register.h"

#include "bayloom/experimental/variants.h"

namespace bayloom::experimental {

void Register() {
  RegisterStrategies();
  RegisterSchedulers();
  RegisterSelections();
  RegisterOptimizers();
  RegisterTransferMethods();
  RegisterEncodings();
}

}  // namespace bayloom::experimental
