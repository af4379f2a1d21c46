// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/space.h"

#include <fmt/format.h>

#include "bayloom/space/internal/constraint_parser.h"

namespace bayloom::space {
int Space::IndexOf(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? -1 : found->second;
}

double Space::CountFeasible() const { return chain_->CountFeasible(); }

bool Space::Contains(const Configuration& configuration) const {
  return static_cast<int>(configuration.coordinates.size()) == size() &&
         chain_->Contains(configuration.coordinates);
}

std::optional<Configuration> Space::Sample(base::RandomStream& random,
                                           SamplingMethod method) const {
  Configuration drawn{std::vector<double>(parameters_.size())};
  if (!chain_->Sample(random, method, drawn.coordinates)) return std::nullopt;
  return drawn;
}

std::vector<Configuration> Space::Neighbours(const Configuration& configuration,
                                             base::RandomStream& random) const {
  std::vector<Configuration> neighbours;
  for (int i = 0; i < size(); ++i) {
    const size_t before = neighbours.size();
    for (double c : chain_->Alternatives(i, configuration.coordinates, random)) {
      neighbours.push_back(configuration);
      neighbours.back().coordinates[i] = c;
    }
    if (neighbours.size() > before) continue;
    for (std::vector<double>& coordinates :
         chain_->JointAlternatives(i, configuration.coordinates, random)) {
      neighbours.push_back({std::move(coordinates)});
    }
  }
  return neighbours;
}

void Space::ForEach(const std::function<bool(const Configuration&)>& visit) const {
  Configuration at{std::vector<double>(parameters_.size())};
  chain_->ForEach(at.coordinates, [&] { return visit(at); });
}

Result<Configuration> Space::Parse(const std::map<std::string, Value>& values) const {
  for (const auto& [name, value] : values) {
    if (IndexOf(name) < 0) return Error{fmt::format("there is no parameter '{}'", name)};
  }
  Configuration configuration;
  for (const auto& parameter : parameters_) {
    const auto found = values.find(parameter->name());
    if (found != values.end()) {
      const Result<double> coordinate = parameter->CoordinateOf(found->second);
      if (!coordinate) {
        return Error{
            fmt::format("parameter '{}': {}", parameter->name(), coordinate.error().message)};
      }
      configuration.coordinates.push_back(*coordinate);
    } else if (parameter->default_coordinate()) {
      configuration.coordinates.push_back(*parameter->default_coordinate());
    } else {
      return Error{
          fmt::format("parameter '{}' has neither a value nor a default", parameter->name())};
    }
  }
  return configuration;
}

std::optional<Configuration> Space::Default() const {
  Configuration configuration;
  for (const auto& parameter : parameters_) {
    if (!parameter->default_coordinate()) return std::nullopt;
    configuration.coordinates.push_back(*parameter->default_coordinate());
  }
  if (!Contains(configuration)) return std::nullopt;
  return configuration;
}

std::string Space::ToString(const Configuration& configuration) const {
  std::string text;
  for (int i = 0; i < size(); ++i) {
    text += fmt::format("{}{}={}", i > 0 ? " " : "", parameter(i).name(),
                        bayloom::space::ToString(ValueOf(configuration, i)));
  }
  return text;
}

std::string Space::Describe() const {
  std::string text;
  for (const auto& parameter : parameters_) {
    text += fmt::format("{}: {}\n", parameter->name(), parameter->Describe());
  }
  for (const std::string& constraint : constraint_texts_) text += constraint + "\n";
  return text + fmt::format("{} feasible configurations\n", CountFeasible());
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
  Result<ChainOfTrees> chain =
      ChainOfTrees::Grow(built->graph_, built->parameters_, built->constraints_);
  if (!chain) return chain.error();
  built->chain_ = std::move(*chain);
  for (int quantity : ComparedQuantities(built->graph_, built->constraints_)) {
    built->quantities_.emplace_back(built->graph_, built->parameters_, quantity);
  }
  return std::shared_ptr<const Space>(std::move(built));
}

}  // namespace bayloom::space
