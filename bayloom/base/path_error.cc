// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/path_error.h"

#include <cerrno>
#include <system_error>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

bool IsPathAtFault(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case EEXIST:
    case ENOTEMPTY:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
    case ENXIO:
    case ETXTBSY:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ThrowPathError(const std::string& what, int error_number) {
  const std::string message = what + ": " + std::generic_category().message(error_number);
  if (IsPathAtFault(error_number)) throw InputError(message);
  throw SystemError(message);
}

}  // namespace bayloom::base
