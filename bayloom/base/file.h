// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>

namespace bayloom::base {

// Whole files. What cannot be read or written throws "cannot read 'PATH': REASON": an InputError
// where the path is at fault, a SystemError where the machine is (see ThrowPathError).

/// The content of a file; an InputError if it has more than `max_bytes`.
std::string ReadFile(const std::string& path,
                     size_t max_bytes = std::numeric_limits<size_t>::max());

/// Writes a whole file: it appears, or takes the place of the one before, complete and on the disk
/// or not at all. What is no regular file (a terminal, a pipe, /dev/stdout) is written to as it is;
/// where the path is a symbolic link, the file that it points to is replaced.
void WriteFile(const std::string& path, std::string_view content);

/// The same for what is produced piece by piece. An exception from `write` leaves no file, either.
void WriteFile(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Writes all of it to an open file; 0, or the number of the error that ended it.
int WriteAll(int descriptor, std::string_view content);

/// Puts a finished file in another's place, in the same file system: complete and on the disk or
/// not at all.
void MoveFile(const std::string& from, const std::string& to);

/// To be asked before long work whose result goes into a file: throws as WriteFile would where the
/// file's folder is not there or may not be written to. An empty path is fine.
void CheckFolderOf(const std::string& path);

/// Creates the folder and those above it where they are missing; throws as WriteFile would.
void CreateFolder(const std::string& path);

}  // namespace bayloom::base
