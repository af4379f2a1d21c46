// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/estimated_choice.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

constexpr const char* kChecked = "checked";

uint64_t KeyOf(const sketch::SpaceGenerator& space, const sketch::DerivationChoice& derivations,
               const ZeroTrialOptions& options) {
  base::Hasher hasher;
  hasher.Add(space.workload().StructuralHash());
  for (const std::vector<int64_t>& point : space.workload().points) {
    for (int64_t size : point) hasher.Add(static_cast<uint64_t>(size));
  }
  // Spaces of other derivations are other ones.
  for (const tensor::Trace& open : space.spaces()) hasher.Add(open.ToJson().dump());
  hasher.Add(static_cast<uint64_t>(space.workload().has_cold_constants));
  hasher.Add(target::TargetToJson(space.target()).dump()).Add(derivations.ToString());
  hasher.Add(static_cast<uint64_t>(options.population)).Add(options.accepts_key);
  return hasher.Add(static_cast<uint64_t>(options.generations)).Add(options.seed).Digest();
}

std::string TextOf(const std::vector<SmallCandidate>& candidates) {
  nlohmann::json json = nlohmann::json::array();
  for (const SmallCandidate& each : candidates) {
    json.push_back({{"candidate", CandidateText(each.candidate)},
                    {"hash", each.candidate.hash},
                    {"size", each.size},
                    {"up_to", each.up_to}});
  }
  return json.dump();
}

/// nullopt where the text is damaged, or a trace no longer makes the program that was chosen.
std::optional<std::vector<SmallCandidate>> CandidatesOf(const std::string& text,
                                                        const sketch::SpaceGenerator& space) {
  std::vector<SmallCandidate> candidates;
  try {
    for (const nlohmann::json& json : base::ParseJsonOrDiscard(text)) {
      trial::TrialRecord trial;
      trial.candidate = json.at("candidate").get<std::string>();
      trial.key = json.at("hash").get<uint64_t>();
      Result<sketch::Candidate> candidate = RestoreCandidate(space, trial);
      if (!candidate) return std::nullopt;
      candidates.push_back(
          {*std::move(candidate), json.at("size").get<int>(), json.at("up_to").get<int64_t>()});
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return candidates;
}

}  // namespace

EstimatedChoice::EstimatedChoice(const sketch::SpaceGenerator& space,
                                 const sketch::DerivationChoice& derivations,
                                 const ZeroTrialOptions& options, UserStore* store,
                                 base::ThreadPool& pool)
    : space_(space), derivations_(derivations), options_(options), store_(store), pool_(pool) {
  if (store_ != nullptr) key_ = KeyOf(space, derivations, options);
}

std::vector<SmallCandidate> EstimatedChoice::Remembered(
    uint64_t key, const std::function<std::vector<SmallCandidate>()>& choose) {
  const std::optional<std::string> known = store_ != nullptr ? store_->ChoiceOf(key) : std::nullopt;
  if (known) {
    if (auto candidates = CandidatesOf(*known, space_)) return *std::move(candidates);
  }
  std::vector<SmallCandidate> chosen = choose();
  if (store_ != nullptr) store_->KeepChoice(key, TextOf(chosen));
  return chosen;
}

sketch::Candidate EstimatedChoice::Largest(std::span<const sketch::Candidate> adapted) {
  base::Hasher key;
  key.Add(key_).Add("largest");
  for (const sketch::Candidate& candidate : adapted) key.Add(candidate.hash);
  const auto choose = [&] {
    const bool is_open = !space_.workload().points.empty();
    return is_open ? FastestForLargest(space_, derivations_, adapted, options_, pool_)
                   : FastestByEstimate(space_, adapted, options_, pool_);
  };
  return Remembered(key.Digest(),
                    [&] {
                      return std::vector<SmallCandidate>{{choose(), 0, 0}};
                    })
      .at(0)
      .candidate;
}

std::vector<SmallCandidate> EstimatedChoice::Small(const sketch::Candidate& largest) {
  if (space_.workload().points.empty()) return {};
  const uint64_t key = base::Hasher().Add(key_).Add("small").Add(largest.hash).Digest();
  return Remembered(
      key, [&] { return FastestForSmall(space_, derivations_, largest, options_, pool_); });
}

Status EstimatedChoice::Check(ProgramCheck& check, const sketch::Candidate& candidate) {
  const uint64_t key = base::Hasher().Add(key_).Add(kChecked).Add(candidate.hash).Digest();
  if (store_ != nullptr && store_->ChoiceOf(key) == kChecked) return Ok();
  Status checked = check.Check(space_.workload(), candidate.program);
  if (checked && store_ != nullptr) store_->KeepChoice(key, kChecked);
  return checked;
}

}  // namespace bayloom::tuning
