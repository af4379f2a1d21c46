// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace bayloom::base {

// Limits of text that others wrote: files, answers of programs, columns of databases. What exceeds
// one is refused before it is built up in memory.

/// Of a file that a person writes, such as a scenario or an architecture.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;
/// Of one value of a template's variable.
inline constexpr size_t kMaxTemplateValueBytes = size_t{1} << 20;
/// Of one JSON value.
inline constexpr size_t kMaxJsonBytes = size_t{1} << 30;
/// Of one line of a file of records or of a conversation.
inline constexpr size_t kMaxLineBytes = size_t{256} << 20;
/// Of a name: of a parameter, a level of memory, a dimension.
inline constexpr size_t kMaxNameBytes = 200;
/// What is shown of a path in a message.
inline constexpr size_t kMaxPathBytes = 500;

/// Lists and maps within each other in a YAML document, with aliases followed.
inline constexpr int kMaxYamlDepth = 100;
/// Arrays and objects within each other in a JSON value; code that recurses over a value stays
/// within a thread's stack.
inline constexpr int kMaxJsonDepth = 500;
/// Values that the aliases of a YAML document repeat.
inline constexpr int64_t kMaxRepeatedValues = 100000;

}  // namespace bayloom::base
