// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bayloom/space/constraint_parser.h"

namespace bayloom::space {
int Space::IndexOf(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? -1 : found->second;
}

double Space::CountFeasible() const {
  return is_tied_ ? chain_->CountFeasible() : std::numeric_limits<double>::infinity();
}

double Space::Log10CountFeasible() const {
  return is_tied_ ? chain_->Log10CountFeasible() : std::numeric_limits<double>::infinity();
}

std::string Space::CountText() const {
  const double count = CountFeasible();
  const double log = Log10CountFeasible();
  if (std::isfinite(count) || !std::isfinite(log)) return fmt::format("{}", count);
  return fmt::format("1e+{:.0f}", std::floor(log));
}

bool Space::Contains(const Configuration& configuration) const {
  return static_cast<int>(configuration.coordinates.size()) == size() &&
         chain_->Contains(configuration.coordinates) &&
         conditions_.IsSettled(configuration.coordinates);
}

Configuration Space::Settled(Configuration configuration) const {
  conditions_.Settle(configuration.coordinates);
  return configuration;
}

std::optional<Configuration> Space::Sample(base::RandomStream& random,
                                           SamplingMethod method) const {
  Configuration drawn{std::vector<double>(parameters_.size())};
  if (!chain_->Sample(random, method, drawn.coordinates)) return std::nullopt;
  conditions_.Settle(drawn.coordinates);
  return drawn;
}

std::vector<Configuration> Space::Neighbours(const Configuration& configuration,
                                             base::RandomStream& random) const {
  std::vector<int> all(parameters_.size());
  std::iota(all.begin(), all.end(), 0);
  return Neighbours(configuration, all, random);
}

std::vector<Configuration> Space::Neighbours(const Configuration& configuration,
                                             std::span<const int> parameters,
                                             base::RandomStream& random) const {
  std::vector<Configuration> neighbours;
  const std::vector<int> inactive = conditions_.InactiveOf(configuration.coordinates);
  std::vector<bool> is_inactive(parameters_.size());
  for (int i : inactive) is_inactive[i] = true;
  for (int i : parameters) {
    if (is_inactive[i]) continue;
    if (conditions_.IsGoverning(i)) {
      AddGoverned(i, configuration, inactive, random, neighbours);
      continue;
    }
    const size_t before = neighbours.size();
    for (double c : chain_->Alternatives(i, configuration.coordinates, random)) {
      neighbours.push_back(configuration);
      neighbours.back().coordinates[i] = c;
    }
    if (neighbours.size() > before) continue;
    for (std::vector<double>& coordinates :
         chain_->JointAlternatives(i, configuration.coordinates, random)) {
      neighbours.push_back(Settled({std::move(coordinates)}));
    }
  }
  return neighbours;
}

/// Neighbours by a parameter that says whether others are active; `inactive`: those that are not in
/// the configuration.
void Space::AddGoverned(int i, const Configuration& configuration, std::span<const int> inactive,
                        base::RandomStream& random, std::vector<Configuration>& neighbours) const {
  /// Draws of what becomes active, until constraints hold.
  constexpr int kDraws = 8;
  std::vector<double> values = chain_->Alternatives(i, configuration.coordinates, random);
  for (double c : parameter(i).Neighbours(configuration.coordinates[i], random)) {
    if (std::ranges::find(values, c) == values.end()) values.push_back(c);
  }
  for (double c : values) {
    Configuration changed = configuration;
    changed.coordinates[i] = c;
    conditions_.Settle(changed.coordinates);
    if (Contains(changed)) neighbours.push_back(changed);
    std::vector<int> awakened(inactive.begin(), inactive.end());
    for (int p : conditions_.InactiveOf(changed.coordinates)) std::erase(awakened, p);
    for (int draw = 0; !awakened.empty() && draw < kDraws; ++draw) {
      Configuration drawn = changed;
      for (int p : awakened) drawn.coordinates[p] = parameter(p).Sample(random);
      conditions_.Settle(drawn.coordinates);
      if (drawn == changed || !Contains(drawn)) continue;
      neighbours.push_back(std::move(drawn));
      break;
    }
  }
}

void Space::ForEach(const std::function<bool(const Configuration&)>& visit) const {
  Configuration at{std::vector<double>(parameters_.size())};
  chain_->ForEach(at.coordinates,
                  [&] { return !conditions_.IsSettled(at.coordinates) || visit(at); });
}

Result<Configuration> Space::Parse(const std::map<std::string, Value>& values) const {
  for (const auto& [name, value] : values) {
    if (IndexOf(name) < 0) return Error{fmt::format("there is no parameter '{}'", name)};
  }
  Configuration configuration;
  std::vector<std::pair<int, Error>> problems;  // of parameters, unless they are inactive
  for (int i = 0; i < size(); ++i) {
    const Parameter& parameter = *parameters_[i];
    const auto found = values.find(parameter.name());
    if (found != values.end()) {
      const Result<double> coordinate = parameter.CoordinateOf(found->second);
      if (coordinate) {
        configuration.coordinates.push_back(*coordinate);
        continue;
      }
      problems.emplace_back(i, Error{fmt::format("parameter '{}': {}", parameter.name(),
                                                 coordinate.error().message)});
    } else if (!parameter.default_coordinate()) {
      problems.emplace_back(i, Error{fmt::format("parameter '{}' has neither a value nor a default",
                                                 parameter.name())});
    }
    configuration.coordinates.push_back(parameter.default_coordinate().value_or(
        conditions_.IsConditional(i) ? conditions_.StandIn(i) : 0));
  }
  // What decides on such a parameter is one itself, or was found above.
  std::ranges::stable_partition(problems,
                                [&](const auto& p) { return !conditions_.IsConditional(p.first); });
  for (auto& [i, problem] : problems) {
    if (!conditions_.IsConditional(i) || IsActive(configuration, i)) return std::move(problem);
  }
  return Settled(std::move(configuration));
}

std::optional<Configuration> Space::Default() const {
  const Result<Configuration> parsed = Parse({});
  if (!parsed || !Contains(*parsed)) return std::nullopt;
  return *parsed;
}

std::string Space::TextOf(const Configuration& configuration, int i) const {
  if (!IsActive(configuration, i)) return "";
  return bayloom::space::ToString(ValueOf(configuration, i));
}

std::string Space::ToString(const Configuration& configuration) const {
  std::string text;
  for (int i = 0; i < size(); ++i) {
    if (!IsActive(configuration, i)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", parameter(i).name(),
                        TextOf(configuration, i));
  }
  return text;
}

std::string Space::Describe() const {
  std::string text;
  for (int i = 0; i < size(); ++i) {
    text += fmt::format("{}: {}", parameter(i).name(), parameter(i).Describe());
    if (conditions_.IsConditional(i)) text += " if " + conditions_.Text(i);
    text += "\n";
  }
  for (const std::string& constraint : constraint_texts_) text += constraint + "\n";
  return text + fmt::format("{} feasible configurations\n", CountText());
}

Space::Builder& Space::Builder::Add(std::unique_ptr<Parameter> parameter) {
  const std::string& name = parameter->name();
  if (name.empty()) throw InputError("a parameter has no name");
  if (!space_->indices_.emplace(name, space_->size()).second) {
    throw InputError(fmt::format("there are two parameters '{}'", name));
  }
  space_->parameters_.push_back(std::move(parameter));
  return *this;
}

Status Space::Builder::AddConstraint(std::string_view text) {
  const Result<std::vector<int>> parsed =
      ParseConstraint(text, space_->parameters_, space_->graph_);
  if (!parsed) return parsed.error();
  space_->constraints_.insert(space_->constraints_.end(), parsed->begin(), parsed->end());
  space_->constraint_texts_.emplace_back(text);
  return Ok();
}

Status Space::Builder::AddCondition(std::string_view name, std::string_view text) {
  const int parameter = space_->IndexOf(name);
  if (parameter < 0) throw InputError(fmt::format("there is no parameter '{}'", name));
  if (std::ranges::find(space_->given_conditions_, parameter, &Conditions::Given::parameter) !=
      space_->given_conditions_.end()) {
    throw InputError(fmt::format("parameter '{}' has two conditions", name));
  }
  Result<std::vector<int>> parsed = ParseCondition(text, space_->parameters_, space_->graph_);
  if (!parsed) return parsed.error();
  space_->given_conditions_.push_back({parameter, *std::move(parsed), std::string(text)});
  return Ok();
}

void Space::Builder::AddConstraint(std::span<const std::string> names, ConstraintFunction holds) {
  std::vector<int> parameters;
  for (const std::string& name : names) {
    parameters.push_back(space_->IndexOf(name));
    if (parameters.back() < 0) {
      throw InputError(fmt::format("a constraint is on '{}', which is no parameter", name));
    }
  }
  space_->constraints_.push_back(space_->graph_.Call(std::move(parameters), std::move(holds)));
}

Result<std::shared_ptr<const Space>> Space::Builder::Build() {
  std::shared_ptr<Space> built(new Space);
  std::swap(built, space_);
  const Status grown = built->GrowChain();
  if (!grown) return grown.error();
  for (int quantity : ComparedQuantities(built->graph_, built->constraints_)) {
    built->quantities_.emplace_back(built->graph_, built->parameters_, quantity);
  }
  return std::shared_ptr<const Space>(std::move(built));
}

/// Whether trees may have a level for the parameter, or need one for it.
bool Space::IsListed(int i) const {
  const int64_t count = parameter(i).Cardinality();
  return count != kUncountable && count <= ChainOfTrees::kMaxValues;
}

/// Grows trees that have each configuration once: a conditional parameter is active in them, or has
/// its stand-in. Where that is too much for a tree, they are grown as if all were active.
Status Space::GrowChain() {
  Result<Conditions> conditions = Conditions::Make(graph_, parameters_, given_conditions_);
  if (!conditions) return conditions.error();
  conditions_ = *std::move(conditions);
  std::vector<int> relaxed;
  for (int constraint : constraints_) relaxed.push_back(conditions_.Relax(graph_, constraint));
  std::vector<int> tied = relaxed;
  for (int p : conditions_.parameters()) {
    tied.push_back(conditions_.Tie(graph_, p));
    const std::vector<int> bound = ParametersOf(graph_, tied.back());
    is_tied_ = is_tied_ && std::ranges::all_of(bound, [&](int b) { return IsListed(b); });
  }
  Result<ChainOfTrees> chain = ChainOfTrees::Grow(graph_, parameters_, is_tied_ ? tied : relaxed);
  if (is_tied_ && !conditions_.empty() && chain && chain->loose_constraints() > 0) {
    Result<ChainOfTrees> untied = ChainOfTrees::Grow(graph_, parameters_, relaxed);
    if (!untied) return untied.error();
    if (untied->loose_constraints() < chain->loose_constraints()) {
      is_tied_ = false;
      chain = std::move(untied);
    }
  }
  if (!chain) return chain.error();
  chain_ = *std::move(chain);
  return Ok();
}

}  // namespace bayloom::space
