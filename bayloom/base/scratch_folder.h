// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace bayloom::base {

/// An empty folder with a name of its own, which only this user can read. The destructor removes it
/// with everything in it. If the process is killed before, the next one that makes a scratch folder
/// in the same place removes it.
class ScratchFolder {
 public:
  /// In the folder for temporary files: TMPDIR of the environment, else /tmp. Throws SystemError,
  /// naming that folder and the reason, where none can be created.
  ScratchFolder() : ScratchFolder("") {}
  /// In `parent` (such as where a finished file will be moved to, which a rename can do only within
  /// a file system). Throws InputError where that cannot be written to; see ThrowPathError. Empty:
  /// the folder for temporary files.
  explicit ScratchFolder(const std::string& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The path of what has this name in it.
  std::string operator/(std::string_view name) const;
  /// Writes a file into it, without waiting for the disk; its path. Throws SystemError.
  std::string Write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
  int lock_ = -1;  ///< held as long as its owner lives, in any container
};

/// Removes from `parent` the scratch folders whose owners are dead: which belong to this user,
/// carry the number and starting time of a process that is no more, and are not locked. How
/// many.
int RemoveDeadScratchFolders(const std::string& parent);

}  // namespace bayloom::base
