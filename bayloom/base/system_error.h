// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>

namespace bayloom::base {

/// Something that this machine refused though the input was right: the disk is full,
/// there is no memory, a process cannot be created. The message is one line: what failed, on what,
/// and the system's reason. The command line prints it and exits with code 1.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bayloom::base

namespace bayloom {
using base::SystemError;
}  // namespace bayloom
