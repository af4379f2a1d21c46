// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/program_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/record/schema.h"

namespace bayloom::record {
namespace {

template <typename Unpacked>
Unpacked OrThrow(Result<Unpacked> unpacked, const std::string& path) {
  if (!unpacked) {
    throw InputError(fmt::format("cannot use {}: {}", path, unpacked.error().message));
  }
  return *std::move(unpacked);
}

}  // namespace

ProgramPool::ProgramPool(const std::string& path, Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

void ProgramPool::PutIntoGroup(const std::string& group, TaskId task, double weight) {
  const std::lock_guard lock(mutex_);
  database_.Prepared("INSERT OR REPLACE INTO pool_groups (name, task, weight) VALUES (?, ?, ?)")
      .Run(group, task, weight);
}

std::vector<PoolGroup> ProgramPool::Groups() {
  const std::lock_guard lock(mutex_);
  std::vector<PoolGroup> groups;
  Rows rows =
      database_.Prepared("SELECT name, task, weight FROM pool_groups ORDER BY name, task").Start();
  while (rows.Step()) {
    if (groups.empty() || groups.back().name != rows.Text(0)) groups.push_back({rows.Text(0), {}});
    groups.back().members.push_back({rows.Int(1), rows.Real(2)});
  }
  return groups;
}

void ProgramPool::Add(TaskId task, std::span<const PoolProgram> programs) {
  if (programs.empty()) return;
  const std::string packed = PackPrograms(programs), features = PackFeatures(programs);
  const std::lock_guard lock(mutex_);
  database_
      .Prepared(
          "INSERT INTO pool_chunks (task, first, count, programs, features) VALUES (?1,"
          " (SELECT IFNULL(SUM(count), 0) FROM pool_chunks WHERE task = ?1), ?2, ?3, ?4)")
      .Run(task, static_cast<int64_t>(programs.size()), BlobView{packed}, BlobView{features});
}

int64_t ProgramPool::Count(TaskId task) {
  const std::lock_guard lock(mutex_);
  Rows rows = database_
                  .Prepared(
                      "SELECT IFNULL(SUM(count), 0), IFNULL(MIN(count), 1) FROM pool_chunks"
                      " WHERE task = ?")
                  .Start(task);
  if (!rows.Step()) return 0;
  if (rows.Int(1) < 1) Damaged(task, 0);
  return rows.Int(0);
}

std::vector<TaskId> ProgramPool::Tasks() {
  const std::lock_guard lock(mutex_);
  std::vector<TaskId> tasks;
  Rows rows = database_.Prepared("SELECT DISTINCT task FROM pool_chunks ORDER BY task").Start();
  while (rows.Step()) tasks.push_back(rows.Int(0));
  return tasks;
}

void ProgramPool::Damaged(TaskId task, int64_t place) const {
  throw InputError(
      fmt::format("cannot use {}: it is damaged: of the programs of task {}, those from {} on",
                  path(), task, place));
}

void ProgramPool::Visit(TaskId task, Part part, const Visitor& visitor) {
  for (int64_t place = 0;;) {
    std::string packed, packed_features;
    int64_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      Rows rows =
          database_
              .Prepared(
                  "SELECT count, programs, features FROM pool_chunks WHERE task = ? AND first = ?")
              .Start(task, place);
      if (!rows.Step()) return;
      count = rows.Int(0);
      if (part != Part::kFeatures) packed = rows.Blob(1);
      if (part != Part::kPrograms) packed_features = rows.Blob(2);
    }
    std::vector<PoolProgram> programs;
    if (part != Part::kFeatures) programs = OrThrow(UnpackPrograms(packed), path());
    if (part != Part::kPrograms) {
      std::vector<feature::FeatureMatrix> features =
          OrThrow(UnpackFeatures(packed_features), path());
      if (part == Part::kFeatures) programs.resize(features.size());
      if (features.size() != programs.size()) Damaged(task, place);
      for (size_t i = 0; i < programs.size(); ++i) programs[i].features = std::move(features[i]);
    }
    if (std::ssize(programs) != count || count == 0) Damaged(task, place);
    visitor(place, programs);
    place += count;
  }
}

std::vector<PoolProgram> ProgramPool::At(TaskId task, std::span<const int64_t> places) {
  if (places.empty()) return {};
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return places[a] < places[b]; });
  std::vector<PoolProgram> found(places.size());
  size_t next = 0;
  Visit(task, Part::kAll, [&](int64_t first, std::span<const PoolProgram> programs) {
    const auto end = first + static_cast<int64_t>(programs.size());
    for (; next < order.size() && places[order[next]] < end; ++next) {
      found[order[next]] = programs[places[order[next]] - first];
    }
  });
  if (next < order.size()) throw InputError(fmt::format("{} has no such program", path()));
  return found;
}

}  // namespace bayloom::record
