// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/page_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/base/version.h"
#include "bayloom/page/mapping_details.h"
#include "bayloom/page/program_details.h"
#include "bayloom/page/run_json.h"
#include "bayloom/page/sanitized.h"
#include "bayloom/page/search_details.h"
#include "bayloom/page/trial_columns.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/pool_table.h"
#include "bayloom/report/repeat_table.h"
#include "bayloom/report/run_digest.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

constexpr int kDocumentFormat = 1;
/// Lists of items, all of which every document has.
constexpr const char* kLists[] = {"targets",  "tasks",    "runs",     "learning",
                                  "programs", "searches", "mappings", "pools"};
/// Trials are read so many at a time, for those of tunings are large.
constexpr int64_t kTrialsAtOnce = 2000;
/// Parameters are ranked again once there are so many times as many trials.
constexpr double kRankAgainAfter = 1.5;

/// Calls back with the trials of a run from `first` on, a few at a time.
template <typename Visit>
void VisitTrials(record::Store& store, record::RunId run, int64_t first, const Visit& visit) {
  while (true) {
    const std::vector<record::StoredTrial> trials = store.TrialsOfRun(run, first, kTrialsAtOnce);
    for (const record::StoredTrial& trial : trials) visit(trial);
    if (std::ssize(trials) < kTrialsAtOnce) return;
    const int64_t last = trials.back().ordinal;
    if (last == std::numeric_limits<int64_t>::max()) return;
    first = last + 1;
  }
}

Json TargetJson(record::TargetId id, const target::Target& target) {
  Json json = {{"id", id},
               {"name", Sanitized(target.name)},
               {"cpu", Sanitized(target.cpu)},
               {"threads", target.cores},
               {"vector_bytes", target.vector_bytes}};
  if (target.machine) {
    json["peak_flops"] = Finite(target.machine->PeakFlops());
    json["bytes_per_second"] =
        Finite(target.machine->BytesPerSecond(target.machine->levels.back()));
  }
  return json;
}

}  // namespace

PageReader::PageReader(record::Store& store, std::string database, uint64_t id)
    : store_(store), database_(std::move(database)), id_(id) {
  for (const char* list : kLists) lists_[list];
}

PageReader::~PageReader() = default;

void PageReader::Put(const std::string& list, ItemKey key, nlohmann::json json) {
  Item& item = lists_[list][key];
  if (item.revision != 0 && item.json == json) return;
  item = {std::move(json), ++revision_};
}

bool PageReader::Refresh(double detail_seconds) {
  const double until = base::MonotonicSeconds() + detail_seconds;
  for (record::RunRecord& run : store_.Runs()) {
    std::unique_ptr<report::RunDigest>& digest = digests_[run.id];
    if (!digest) digest = std::make_unique<report::RunDigest>(run);
    digest->SetRecord(std::move(run));
    ReadTrials(*digest);
    if (store_.CountTrials(digest->run().id) < digest->trials()) return false;
  }
  PutTargets();
  PutTasks();
  details_are_current_ = detail_seconds > 0 && RefreshDetails(until);
  PutRuns();
  return true;
}

/// False if there was no time for some.
bool PageReader::RefreshDetails(double until) {
  for (const auto& [run, digest] : digests_) {
    RefreshLearning(*digest);
    RefreshMapping(*digest);
    if (RefreshSearch(*digest) && base::MonotonicSeconds() >= until) return false;
  }
  PutPools();
  return RefreshPrograms(until);
}

void PageReader::ReadTrials(report::RunDigest& digest) {
  VisitTrials(store_, digest.run().id, digest.next(),
              [&](const record::StoredTrial& trial) { digest.Add(trial); });
}

void PageReader::PutTargets() {
  for (const record::TargetId id : store_.Targets()) {
    Put("targets", {id, 0}, TargetJson(id, store_.TargetOf(id)));
  }
}

/// All of them when one is new: what tells tasks apart is in their names.
void PageReader::PutTasks() {
  const auto& known = lists_.at("tasks");
  const auto is_new = [&](const auto& tried) { return !known.contains({tried.first, 0}); };
  const bool has_new = std::ranges::any_of(digests_, [&](const auto& digest) {
    return std::ranges::any_of(digest.second->tasks(), is_new);
  });
  if (!has_new) return;
  for (const record::TaskRecord& task : store_.Tasks()) {
    Put("tasks", {task.id, 0},
        {{"id", task.id},
         {"name", Sanitized(task.name)},
         {"flops", Finite(store_.WorkloadOf(task.id).Flops())},
         {"workload", SanitizedLines(task.text)}});
  }
}

void PageReader::PutPools() {
  record::ProgramPool pool(store_.path(), record::ProgramPool::Mode::kReadOnly);
  int64_t place = 0;
  for (const Json& row : report::PoolTable(pool).Json()) {
    Put("pools", {place, 0},
        {{"id", place},
         {"group", Sanitized(row.at("group").get<std::string>())},
         {"tasks", row.at("tasks")},
         {"programs", row.at("programs")}});
    ++place;
  }
}

/// Those that are not of the best trial, in turns; false if there was no time for some.
bool PageReader::RefreshPrograms(double until) {
  std::set<std::pair<record::TaskId, record::TargetId>> tried;
  for (const auto& [run, digest] : digests_) {
    if (!digest->run().target) continue;
    for (const auto& [task, progress] : digest->tasks()) {
      if (progress.trials > 0) tried.insert({task, *digest->run().target});
    }
  }
  struct Stale {
    ItemKey key;
    const record::TaskRecord* task;
    std::string made_from;
  };
  const std::vector<record::TaskRecord> tasks = store_.Tasks();
  std::vector<Stale> stale;
  for (const record::TaskRecord& task : tasks) {
    for (const record::TargetId target : store_.Targets()) {
      const ItemKey key = {task.id, target};
      if (!tried.contains(key)) continue;
      std::string made_from = ProgramDetailsKey(store_, task.id, target);
      const auto known = program_keys_.find(key);
      if (known != program_keys_.end() && known->second == made_from) continue;
      stale.push_back({key, &task, std::move(made_from)});
    }
  }
  std::ranges::sort(stale, {}, &Stale::key);
  std::ranges::rotate(stale, std::ranges::upper_bound(stale, last_program_, {}, &Stale::key));
  for (size_t i = 0; i < stale.size(); ++i) {
    if (i > 0 && base::MonotonicSeconds() >= until) return false;
    auto& [key, task, made_from] = stale[i];
    Put("programs", key, ProgramDetails(store_, *task, key.second));
    program_keys_[key] = std::move(made_from);
    last_program_ = key;
  }
  return true;
}

void PageReader::RefreshLearning(const report::RunDigest& digest) {
  const record::RunId run = digest.run().id;
  const auto repeats = std::ssize(store_.RepeatsOf(run));
  const std::vector<record::Metric> metrics = store_.MetricsOf(run);
  const auto known = shown_repeats_.find(run);
  const bool is_known = known != shown_repeats_.end() && known->second == repeats &&
                        learnt_slots_[run] == std::ssize(metrics);
  if (is_known || (repeats == 0 && metrics.empty())) return;
  Json by_name = Json::object();
  for (const record::Metric& metric : metrics) {
    by_name[Sanitized(metric.name)].push_back({metric.batch, Finite(metric.value)});
  }
  Put("learning", {run, 0},
      {{"id", run},
       {"metrics", std::move(by_name)},
       {"repeats",
        repeats == 0 ? Json::array() : report::RepeatTable(store_, digest.run()).Json()}});
  shown_repeats_[run] = repeats;
  learnt_slots_[run] = std::ssize(metrics);
}

/// True if it was old.
bool PageReader::RefreshSearch(const report::RunDigest& digest) {
  if (digest.run().kind != record::RunKind::kSearch) return false;
  const auto known = ranked_trials_.find(digest.run().id);
  const bool is_complete =
      digest.run().finished && known != ranked_trials_.end() && known->second != digest.trials();
  if (known != ranked_trials_.end() && !is_complete &&
      static_cast<double>(digest.trials()) <
          kRankAgainAfter * static_cast<double>(std::max<int64_t>(1, known->second))) {
    return false;
  }
  Put("searches", {digest.run().id, 0}, SearchDetails(store_, digest.run()));
  ranked_trials_[digest.run().id] = digest.trials();
  return true;
}

void PageReader::RefreshMapping(const report::RunDigest& digest) {
  if (digest.run().kind != record::RunKind::kMap || digest.improvements().empty()) return;
  const report::RunDigest::Improvement& best = digest.improvements().back();
  const auto known = mapped_trials_.find(digest.run().id);
  if (known != mapped_trials_.end() && known->second == best.trial) return;
  Put("mappings", {digest.run().id, 0}, MappingDetails(digest.run(), best.candidate));
  mapped_trials_[digest.run().id] = best.trial;
}

void PageReader::PutRuns() {
  std::vector<record::RunRecord> runs;
  for (const auto& [run, digest] : digests_) runs.push_back(digest->run());
  std::map<record::RunId, record::RunId> network_of;
  for (const record::RunRecord& run : runs) {
    for (const record::RunId layer : report::LayerRunsOf(run, runs)) network_of[layer] = run.id;
  }
  for (const auto& [run, digest] : digests_) {
    Json json = RunJson(*digest);
    Json gain = GainOf(*digest);
    if (!gain.is_null()) json["gain"] = std::move(gain);
    const auto network = network_of.find(run);
    json["of"] = network == network_of.end() ? Json() : Json(network->second);
    Put("runs", {run, 0}, std::move(json));
  }
}

/// Of the tasks whose default program was measured, as tuning::TuningGain has it.
nlohmann::json PageReader::GainOf(const report::RunDigest& digest) const {
  if (!record::HasTasks(digest.run()) || !digest.run().target) return {};
  if (digest.tasks().empty()) return {};
  int64_t compared = 0;
  double by_default = 0, tuned = 0, bound = 0, total = 0;
  for (const auto& [id, task] : digest.tasks()) {
    const double weight = task.weight;
    if (weight == 0) continue;  // others compute what it would
    const auto& programs = lists_.at("programs");
    const auto found = programs.find({id, *digest.run().target});
    if (found == programs.end() || !found->second.json.contains("measured")) return {};
    const Json& program = found->second.json;
    const Json& measured = program.at("measured");
    const auto number = [](const Json& value) {
      return value.is_number() ? value.get<double>() : std::nan("");
    };
    total += weight * number(measured.at("seconds"));
    bound += weight * number(program.value("roofline", Json()));
    const double reference = number(measured.at("default_seconds"));
    if (std::isnan(reference)) continue;
    ++compared;
    by_default += weight * reference;
    tuned += weight * number(measured.at("beside_default"));
  }
  Json gain = {{"tasks", compared}, {"total", Finite(total)}};
  if (compared > 0) {
    gain["by_default"] = Finite(by_default);
    gain["tuned"] = Finite(tuned);
  }
  if (bound > 0 && total > 0) gain["roofline"] = Finite(std::min(1.0, bound / total));
  return gain;
}

nlohmann::json PageReader::TrialsSince(const Cursor& cursor) {
  Json all = Json::array();
  for (const auto& [run, digest] : digests_) {
    const auto known = cursor.next.find(run);
    const int64_t first = known == cursor.next.end() ? 0 : known->second;
    TrialColumns columns(digest->run().kind == record::RunKind::kSearch);
    const int64_t end = digest->next();
    if (first >= end) continue;
    VisitTrials(store_, run, first, [&](const record::StoredTrial& trial) {
      if (trial.ordinal < end) columns.Add(trial);  // others come with the next refresh
    });
    if (columns.empty()) continue;
    Json json = columns.ToJson();
    json["run"] = run;
    all.push_back(std::move(json));
  }
  return all;
}

nlohmann::json PageReader::Since(const Cursor& cursor) {
  Json document = {{"format", kDocumentFormat},
                   {"bayloom", std::string(base::Version())},
                   {"database", Sanitized(database_)},
                   {"written", base::UnixMicroseconds()},
                   {"cursor", Now().ToText()}};
  for (const auto& [list, items] : lists_) {
    Json& shown = document[list] = Json::array();
    for (const auto& [key, item] : items) {
      if (item.revision > cursor.revision) shown.push_back(item.json);
    }
  }
  document["trials"] = TrialsSince(cursor);
  return document;
}

Cursor PageReader::Now() const {
  Cursor cursor = {.reader = id_, .revision = revision_};
  for (const auto& [run, digest] : digests_) cursor.next[run] = digest->next();
  return cursor;
}

bool PageReader::Knows(const Cursor& cursor) const {
  return cursor.reader == id_ && cursor.revision <= revision_;
}

}  // namespace bayloom::page
