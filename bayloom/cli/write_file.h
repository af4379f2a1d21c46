#pragma once

#include <string>
#include <string_view>

namespace bayloom {

/// Writes a whole file; throws InputError where that fails.
void WriteFile(const std::string& path, std::string_view text);

/// To be asked before long work whose result goes into a file: throws InputError where the file's
/// folder is not there or may not be written to. No path is fine.
void CheckFolderOf(const std::string& path);

}  // namespace bayloom
