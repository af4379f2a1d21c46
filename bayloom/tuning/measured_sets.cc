// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/task_programs.h"

namespace bayloom::tuning {
namespace {

/// Programs looked at: so many of the fastest at each point, and by their values.
constexpr int kOfEachPoint = 8;
/// Each time is that of one trial: what a further program seems to gain may be luck.
constexpr double kMinMeasuredGain = 0.05;
/// "programs_of_set": how many the chosen set has.
constexpr const char* kProgramsOfSet = "programs_of_set";
/// "small_<key>_<size>": up to which value of the size the trial of this key serves.
constexpr std::string_view kSmall = "small_";

using Times = std::vector<measure::TimeAtSizes>;

struct TimedTrial {
  const record::StoredTrial* trial;
  Times times;
};

std::vector<record::StoredTrial> TrialsOf(record::Store& store,
                                          const sketch::SpaceGenerator& space) {
  const std::optional<record::TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<record::TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return {};
  return store.TrialsOf(*task, *target);
}

bool AreOfSameSizes(const Times& a, const Times& b) {
  return std::ranges::equal(a, b, {}, &measure::TimeAtSizes::sizes, &measure::TimeAtSizes::sizes);
}

/// The trials that were timed at the sizes of the latest one that was timed at several.
std::vector<TimedTrial> TimedTrialsOf(std::span<const record::StoredTrial> trials) {
  std::vector<TimedTrial> timed;
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
    if (!trial->outcome.ok()) continue;
    measure::MeasurementDetails details = measure::DetailsOf(trial->outcome);
    if (details.cut_short || details.at_sizes.size() < 2) continue;
    if (!timed.empty() && !AreOfSameSizes(timed[0].times, details.at_sizes)) continue;
    timed.push_back({&*trial, std::move(details.at_sizes)});
  }
  return timed;
}

/// For each of the workload's points, its place among the sizes that trials were timed at; these
/// sizes themselves where trials were timed at others.
std::vector<size_t> PlacesOfPoints(const tensor::Workload& workload, const Times& times) {
  std::vector<size_t> places;
  for (const std::vector<int64_t>& point : workload.points) {
    const auto found = std::ranges::find(times, point, &measure::TimeAtSizes::sizes);
    if (found == times.end()) {
      places.resize(times.size());
      std::iota(places.begin(), places.end(), 0);
      return places;
    }
    places.push_back(static_cast<size_t>(found - times.begin()));
  }
  return places;
}

/// Those that may be in a set: the fastest at each of the points, and by value.
std::vector<const TimedTrial*> Promising(const std::vector<TimedTrial>& trials) {
  std::set<const TimedTrial*> promising;
  const auto take = [&](const auto& seconds_of) {
    std::vector<const TimedTrial*> sorted;
    for (const TimedTrial& trial : trials) sorted.push_back(&trial);
    std::ranges::stable_sort(sorted, {}, seconds_of);
    const size_t count = std::min<size_t>(sorted.size(), kOfEachPoint);
    promising.insert(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  };
  take([](const TimedTrial* trial) { return trial->trial->outcome.value; });
  for (size_t p = 0; p < trials[0].times.size(); ++p) {
    take([p](const TimedTrial* trial) { return trial->times[p].seconds; });
  }
  std::vector<const TimedTrial*> in_order;
  for (const TimedTrial& trial : trials) {
    if (promising.contains(&trial)) in_order.push_back(&trial);
  }
  return in_order;
}

struct TimedCandidate {
  sketch::Candidate candidate;
  const TimedTrial* timed;
};

/// Those that can be made again.
std::vector<TimedCandidate> Restored(const sketch::SpaceGenerator& space,
                                     const std::vector<const TimedTrial*>& trials,
                                     const sketch::DerivationChoice* derivations) {
  std::vector<TimedCandidate> restored;
  for (const TimedTrial* timed : trials) {
    Result<sketch::Candidate> candidate = RestoreCandidate(space, *timed->trial);
    if (!candidate || (derivations != nullptr && !derivations->Allows(candidate->trace))) continue;
    restored.push_back({*std::move(candidate), timed});
  }
  return restored;
}

/// Programs that may share the lengths: the first `alike` of them read the constants in one form.
struct FormGroup {
  std::vector<const TimedCandidate*> programs;
  int alike = 0;
};

std::vector<FormGroup> GroupByForm(const std::vector<TimedCandidate>& all) {
  std::vector<FormGroup> groups;
  for (const TimedCandidate& one : all) {
    auto group = std::ranges::find_if(groups, [&](const FormGroup& other) {
      return ReadAlike(other.programs[0]->candidate.program, one.candidate.program);
    });
    if (group == groups.end()) group = groups.insert(group, FormGroup());
    group->programs.push_back(&one);
    ++group->alike;
  }
  for (FormGroup& group : groups) {
    const tensor::Program& first = group.programs[0]->candidate.program;
    for (const TimedCandidate& one : all) {
      const tensor::Program& program = one.candidate.program;
      if (!ReadAlike(first, program) && MayBeBeside(first, program)) group.programs.push_back(&one);
    }
  }
  return groups;
}

}  // namespace

std::vector<MeasuredSet> FastestSets(record::Store& store, const sketch::SpaceGenerator& space,
                                     const sketch::DerivationChoice* derivations, int count) {
  const std::vector<record::StoredTrial> trials = TrialsOf(store, space);
  const std::vector<TimedTrial> timed = TimedTrialsOf(trials);
  if (timed.empty()) return {};
  const std::vector<size_t> places = PlacesOfPoints(space.workload(), timed[0].times);
  std::vector<std::vector<int64_t>> points;
  for (const size_t place : places) points.push_back(timed[0].times[place].sizes);
  std::vector<std::pair<double, MeasuredSet>> sets;
  const std::vector<TimedCandidate> restored = Restored(space, Promising(timed), derivations);
  for (const FormGroup& group : GroupByForm(restored)) {
    std::vector<std::vector<double>> log_times;
    std::vector<sketch::Candidate> candidates;
    for (const TimedCandidate* program : group.programs) {
      candidates.push_back(program->candidate);
      std::vector<double>& logs = log_times.emplace_back();
      for (const size_t place : places)
        logs.push_back(std::log(program->timed->times[place].seconds));
    }
    const SizeDivision division =
        DivideBySize(log_times, points, {.min_gain = kMinMeasuredGain, .for_largest = group.alike});
    const auto last = static_cast<size_t>(division.parts.back().program);
    sets.push_back(
        {division.log_time,
         {*group.programs[last]->timed->trial, candidates[last], SmallOf(division, candidates)}});
  }
  std::ranges::stable_sort(sets, {}, [](const auto& set) { return set.first; });
  std::vector<MeasuredSet> fastest;
  for (auto& [log_time, set] : sets) {
    if (std::ssize(fastest) < count) fastest.push_back(std::move(set));
  }
  return fastest;
}

void NoteSmall(std::span<const SmallCandidate> small, trial::Outcome& outcome) {
  outcome.Set(kProgramsOfSet, static_cast<double>(small.size() + 1));
  for (const SmallCandidate& each : small) {
    outcome.Set(fmt::format("{}{:016x}_{}", kSmall, each.candidate.hash, each.size),
                static_cast<double>(each.up_to));
  }
}

namespace {

/// What NoteSmall has noted, as a key, a size and its limit.
struct SmallNote {
  uint64_t key = 0;
  int size = 0;
  int64_t up_to = 0;
};

std::vector<SmallNote> SmallNotesOf(const trial::Outcome& outcome) {
  std::vector<SmallNote> notes;
  for (const trial::NamedValue& named : outcome.values) {
    if (!named.name.starts_with(kSmall)) continue;
    SmallNote& note = notes.emplace_back();
    const char* const end = named.name.data() + named.name.size();
    const auto key = std::from_chars(named.name.data() + kSmall.size(), end, note.key, 16);
    if (key.ptr != end) std::from_chars(key.ptr + 1, end, note.size);
    note.up_to = static_cast<int64_t>(named.value);
  }
  std::ranges::sort(notes, {}, &SmallNote::up_to);
  return notes;
}

const record::StoredTrial* Find(std::span<const record::StoredTrial> trials, uint64_t key) {
  const auto found = std::ranges::find(trials, key, &record::StoredTrial::key);
  return found == trials.end() ? nullptr : &*found;
}

}  // namespace

std::optional<MeasuredSet> ChosenSet(record::Store& store, const sketch::SpaceGenerator& space,
                                     const sketch::DerivationChoice* derivations) {
  const std::vector<record::StoredTrial> trials = TrialsOf(store, space);
  if (trials.empty()) return std::nullopt;
  for (const record::Repeat& repeat : store.LastComparison(trials[0].task, trials[0].target)) {
    if (repeat.outcome.Get(record::kChosen, 0) == 0) continue;
    if (repeat.outcome.Get(kProgramsOfSet, 0) == 0) continue;
    const auto trial = std::ranges::find_if(trials, [&](const record::StoredTrial& other) {
      return other.run == repeat.trial_run && other.ordinal == repeat.trial;
    });
    if (trial == trials.end()) return std::nullopt;
    const auto restore = [&](const record::StoredTrial& of) -> std::optional<sketch::Candidate> {
      Result<sketch::Candidate> candidate = RestoreCandidate(space, of);
      if (!candidate || (derivations != nullptr && !derivations->Allows(candidate->trace))) {
        return std::nullopt;
      }
      return *std::move(candidate);
    };
    std::optional<sketch::Candidate> largest = restore(*trial);
    if (!largest) return std::nullopt;
    MeasuredSet set{*trial, *std::move(largest)};
    set.trial.outcome.value = repeat.outcome.value;
    for (const SmallNote& note : SmallNotesOf(repeat.outcome)) {
      const record::StoredTrial* const known = Find(trials, note.key);
      std::optional<sketch::Candidate> small = known ? restore(*known) : std::nullopt;
      if (small) set.small.push_back({*std::move(small), note.size, note.up_to});
    }
    return set;
  }
  return std::nullopt;
}

std::optional<MeasuredSet> BestSet(record::Store& store, const sketch::SpaceGenerator& space,
                                   const sketch::Candidate& best,
                                   const sketch::DerivationChoice* derivations) {
  if (space.workload().points.empty()) return std::nullopt;
  std::optional<MeasuredSet> chosen = ChosenSet(store, space, derivations);
  if (chosen && chosen->largest.hash == best.hash) return chosen;
  std::vector<MeasuredSet> sets = FastestSets(store, space, derivations, 1);
  return sets.empty() ? std::nullopt : std::optional(std::move(sets.front()));
}

std::vector<SizeLoss> LossesOf(record::Store& store, const sketch::SpaceGenerator& space,
                               const MeasuredSet& set) {
  const std::vector<record::StoredTrial> trials = TrialsOf(store, space);
  const std::vector<TimedTrial> timed = TimedTrialsOf(trials);
  if (timed.empty()) return {};
  std::vector<SizeLoss> losses;
  for (const size_t p : PlacesOfPoints(space.workload(), timed[0].times)) {
    const uint64_t used = ProgramFor(timed[0].times[p].sizes, set.largest, set.small).hash;
    SizeLoss& loss = losses.emplace_back();
    loss.fastest = timed[0].times[p].seconds;
    for (const TimedTrial& trial : timed) {
      loss.fastest = std::min(loss.fastest, trial.times[p].seconds);
      if (trial.trial->key == used) loss.seconds = trial.times[p].seconds;
    }
    if (loss.seconds == 0) return {};
  }
  return losses;
}

}  // namespace bayloom::tuning
