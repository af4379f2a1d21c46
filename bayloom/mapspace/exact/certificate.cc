// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/exact/certificate.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/prime_factors.h"
#include "bayloom/base/random.h"
#include "bayloom/mapspace/exact/partial_mapping.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

constexpr int kVersion = 1;
constexpr int64_t kRandomMappings = 20'000;
constexpr int64_t kNeighbours = 20'000;
constexpr int64_t kCompletions = 200;  ///< of each partial mapping

nlohmann::json LevelsOf(const Mapping& mapping, const Mapspace& mapspace) {
  return ToJson(mapping, mapspace.problem(), mapspace.architecture()).at("levels");
}

Mapping MappingOf(const nlohmann::json& levels, const Mapspace& mapspace) {
  Result<Mapping> mapping = MappingFromJson(levels, mapspace.problem(), mapspace.architecture());
  if (!mapping) throw InputError("the certificate's mapping: " + mapping.error().message);
  return *std::move(mapping);
}

/// A partial mapping is stored as the whole one that runs everything else from outside.
Mapping WithRestOutside(Mapping mapping, const Problem& problem) {
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    int64_t product = 1;
    for (size_t l = 0; l + 1 < mapping.levels.size(); ++l) {
      product *= mapping.levels[l].temporal[d] * mapping.levels[l].spatial[d];
    }
    product *= mapping.levels.back().spatial[d];
    mapping.levels.back().temporal[d] = problem.bounds[d] / product;
  }
  return mapping;
}

/// Draws what a partial mapping leaves open. False if it cannot be repaired.
bool Complete(const BoundedPartial& partial, const Mapspace& mapspace, base::RandomStream& random,
              Mapping& mapping) {
  mapping = mapspace.Skeleton();
  if (!mapspace.SampleTiling(random, mapping)) return false;
  mapspace.ShuffleOrders(random, mapping);
  for (int l = 0; l < partial.levels_decided; ++l) mapping.levels[l] = partial.mapping.levels[l];
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    std::vector<Mapspace::Slot> open;
    int64_t rest = mapspace.problem().bounds[d];
    for (int l = 0; l < std::ssize(mapping.levels); ++l) {
      for (const bool spatial : {true, false}) {
        const Mapspace::Slot slot = {l, spatial};
        const auto& free = mapspace.FreeSlots(d);
        const bool is_free = std::ranges::any_of(free, [&](const Mapspace::Slot& each) {
          return each.level == l && each.spatial == spatial;
        });
        if (l >= partial.levels_decided && is_free) {
          FactorAt(mapping, slot, d) = 1;
          open.push_back(slot);
        }
        if (rest % FactorAt(mapping, slot, d) != 0) return false;
        rest /= FactorAt(mapping, slot, d);
      }
    }
    if (rest > 1 && open.empty()) return false;
    const base::PrimeFactors primes(rest);
    for (int64_t i = 0; i < primes.size(); ++i) {
      for (int64_t n = 0; n < primes[i].exponent; ++n) {
        FactorAt(mapping, open[random.UniformInt(std::ssize(open))], d) *= primes[i].prime;
      }
    }
  }
  return mapspace.Repair(mapping);
}

/// Refuses a value below the bound.
Status CompareWith(double bound, const Mapping& mapping, const AnalyticalModel& model,
                   MapObjective objective, std::string_view what) {
  const double value = ValueOf(model.Evaluate(mapping), objective);
  if (value >= bound * (1 - kCostRounding)) return Ok();
  return Error{fmt::format("{} has the value {:.10g}, below the bound of {:.10g}: {}", what, value,
                           bound, PrintCompact(mapping, model.problem()))};
}

}  // namespace

std::string IdentityOf(const Mapspace& mapspace) {
  Architecture architecture = mapspace.architecture();
  const std::span<const Directive> more = mapspace.directives();
  architecture.constraints.insert(architecture.constraints.end(), more.begin(), more.end());
  base::Hasher hasher;
  hasher.Add(PrintProblemYaml(mapspace.problem())).Add(PrintArchitectureYaml(architecture));
  return fmt::format("{:016x}", hasher.Digest());
}

nlohmann::json ToJson(const Certificate& certificate, const Mapspace& mapspace) {
  nlohmann::json sample = nlohmann::json::array();
  for (const BoundedPartial& partial : certificate.sample) {
    sample.push_back(
        {{"levels_decided", partial.levels_decided},
         {"bound", partial.bound},
         {"levels", LevelsOf(WithRestOutside(partial.mapping, mapspace.problem()), mapspace)}});
  }
  const ExactCounts& counts = certificate.counts;
  return {{"version", kVersion},
          {"problem", certificate.problem},
          {"architecture", certificate.architecture},
          {"identity", IdentityOf(mapspace)},
          {"objective", ToString(certificate.objective)},
          {"value", certificate.value},
          {"bound", certificate.bound},
          {"gap", certificate.Gap()},
          {"is_whole", certificate.is_whole},
          {"mapspace_size", certificate.mapspace_size},
          {"partial_mappings",
           {{"made", counts.made},
            {"too_large", counts.too_large},
            {"bounded", counts.bounded},
            {"dominated", counts.dominated},
            {"finished", counts.finished}}},
          {"levels", LevelsOf(certificate.mapping, mapspace)},
          {"sample", sample}};
}

Certificate CertificateFromJson(const nlohmann::json& json, const Mapspace& mapspace) {
  try {
    if (json.at("version").get<int>() != kVersion) {
      throw InputError("this version of certificates is not known");
    }
    if (json.at("identity").get<std::string>() != IdentityOf(mapspace)) {
      throw InputError(fmt::format(
          "the certificate is of another problem, architecture or constraints: {} on {}",
          json.at("problem").get<std::string>(), json.at("architecture").get<std::string>()));
    }
    Certificate certificate;
    certificate.problem = json.at("problem");
    certificate.architecture = json.at("architecture");
    certificate.objective = ParseMapObjective(json.at("objective").get<std::string>());
    certificate.value = json.at("value");
    certificate.bound = json.at("bound");
    certificate.is_whole = json.at("is_whole");
    certificate.mapspace_size = json.at("mapspace_size");
    const nlohmann::json& counts = json.at("partial_mappings");
    certificate.counts = {counts.at("made"), counts.at("too_large"), counts.at("bounded"),
                          counts.at("dominated"), counts.at("finished")};
    certificate.mapping = MappingOf(json.at("levels"), mapspace);
    for (const nlohmann::json& partial : json.at("sample")) {
      const int decided = partial.at("levels_decided");
      if (decided < 0 || decided >= mapspace.architecture().LevelCount()) {
        throw InputError("the certificate: 'levels_decided' is none of the architecture's levels");
      }
      certificate.sample.push_back(
          {MappingOf(partial.at("levels"), mapspace), decided, partial.at("bound")});
    }
    return certificate;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(std::string("this is no certificate: ") + error.what());
  }
}

Result<CertificateCheck> CheckCertificate(const Certificate& certificate, const Mapspace& mapspace,
                                          const AnalyticalModel& model, uint64_t seed) {
  const Mapping& best = certificate.mapping;
  if (const Status status = CheckMapping(best, model.problem(), model.architecture()); !status) {
    return status.error();
  }
  if (const Status status = model.CheckFit(best); !status) return status.error();
  if (!Satisfies(best, mapspace.constraints(), model.problem(), model.architecture())) {
    return Error{"the mapping violates the constraints"};
  }
  const double value = ValueOf(model.Evaluate(best), certificate.objective);
  if (std::abs(value - certificate.value) > kCostRounding * value) {
    return Error{fmt::format("the mapping's value is {:.10g} by the model, not {:.10g}", value,
                             certificate.value)};
  }
  if (!(certificate.bound <= certificate.value) || certificate.bound < 0) {
    return Error{"the bound is not one: it is above the mapping's value, or below 0"};
  }
  if (certificate.mapspace_size != mapspace.Size()) {
    return Error{fmt::format("the mapspace has {:.6g} mappings, not {:.6g}", mapspace.Size(),
                             certificate.mapspace_size)};
  }
  CertificateCheck check;
  base::RandomStream random(seed);
  Mapping mapping;
  const auto compare = [&](double bound, std::string_view what, int64_t& count) -> Status {
    if (!model.Fits(mapping)) return Ok();
    ++count;
    return CompareWith(bound, mapping, model, certificate.objective, what);
  };
  for (int64_t i = 0; i < kRandomMappings + kNeighbours; ++i) {
    const bool is_neighbour = i >= kRandomMappings;
    if (is_neighbour && random.UniformInt(4) == 0) mapping = best;
    if (is_neighbour && i == kRandomMappings) mapping = best;
    const bool is_drawn =
        is_neighbour ? mapspace.Step(random, mapping) : mapspace.SampleTiling(random, mapping);
    if (!is_drawn) {
      mapping = best;
      continue;
    }
    if (!is_neighbour) mapspace.ShuffleOrders(random, mapping);
    if (Status status = compare(certificate.bound, "a mapping", check.mappings); !status) {
      return status.error();
    }
  }
  for (const BoundedPartial& partial : certificate.sample) {
    for (int64_t i = 0; i < kCompletions; ++i) {
      if (!Complete(partial, mapspace, random, mapping)) continue;
      if (Status status = compare(partial.bound, "a completion of a partial mapping cut off",
                                  check.completions);
          !status) {
        return status.error();
      }
    }
  }
  return check;
}

}  // namespace bayloom::mapspace
