// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/uuid.h"

#include <fmt/format.h>

#include <random>

namespace bayloom::record {

std::string RandomUuid() {
  std::random_device device;
  std::string uuid;
  for (int i = 0; i < 4; ++i) uuid += fmt::format("{:08x}", device());
  return uuid;
}

}  // namespace bayloom::record
