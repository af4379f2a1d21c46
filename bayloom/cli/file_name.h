// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace bayloom::cli {

/// A name that any file system takes, made of a text of a model or a database: "/layer1/conv" is
/// "layer1-conv". At most 80 bytes; "unnamed" if nothing is left.
std::string FileNameOf(std::string_view text);

}  // namespace bayloom::cli
