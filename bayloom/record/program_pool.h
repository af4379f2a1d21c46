// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/database.h"
#include "bayloom/record/pool_chunk.h"
#include "bayloom/record/run_record.h"

namespace bayloom::record {

/// Tasks that belong together: those of a network, or of an operator family.
struct PoolGroup {
  struct Member {
    TaskId task = 0;
    double weight = 1;  ///< how often one run of the network runs the task
  };
  std::string name;
  std::vector<Member> members;
};

/// Programs that may be measured, kept in a database of records beside the trials (see Store) so
/// that what is measured of them is found by tuning, and the other way round.
///
/// Programs come and go in chunks: a pool of a million needs memory for one chunk. A task's
/// programs have places from 0 on, in the order in which they were added. What a call has written
/// is durable when it returns. Failures are those of Database. All methods may be called
/// from any thread.
class ProgramPool {
 public:
  using Mode = Database::Mode;
  /// A chunk's first place and its programs.
  using Visitor = std::function<void(int64_t, std::span<const PoolProgram>)>;

  explicit ProgramPool(const std::string& path, Mode mode = Mode::kReadWrite);

  const std::string& path() const { return database_.path(); }

  /// Puts a task of the store into a group, or changes its weight there.
  void PutIntoGroup(const std::string& group, TaskId task, double weight);
  /// By name; members by task.
  std::vector<PoolGroup> Groups();

  /// Adds programs, which the task must not have yet, as one chunk.
  void Add(TaskId task, std::span<const PoolProgram> programs);
  int64_t Count(TaskId task);
  /// Tasks that have programs.
  std::vector<TaskId> Tasks();

  /// Visits a task's programs chunk by chunk, with all that is stored, with
  /// the features only, or with everything but the features.
  enum class Part : uint8_t { kAll, kFeatures, kPrograms };
  void Visit(TaskId task, Part part, const Visitor& visitor);
  /// The programs at these places, whole, in the order of the places.
  std::vector<PoolProgram> At(TaskId task, std::span<const int64_t> places);

 private:
  [[noreturn]] void Damaged(TaskId task, int64_t place) const;

  std::mutex mutex_;  ///< guards the database
  Database database_;
};

}  // namespace bayloom::record
