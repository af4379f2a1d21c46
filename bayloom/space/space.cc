#include "bayloom/space/space.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace bayloom {
namespace {

constexpr int kMostDraws = 100'000;

}  // namespace

Space::Space() = default;
Space::~Space() = default;

int Space::IndexOf(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? -1 : found->second;
}

bool Space::Satisfies(const Configuration& configuration) const {
  std::vector<Value> values;
  for (const CodeConstraint& constraint : constraints_) {
    values.clear();
    for (int i : constraint.parameters) values.push_back(ValueOf(configuration, i));
    if (!constraint.holds(values)) return false;
  }
  return true;
}

double Space::CountFeasible() const {
  double count = 1;
  for (const auto& parameter : parameters_) {
    if (parameter->Cardinality() == kUncountable) return std::numeric_limits<double>::infinity();
    count *= static_cast<double>(parameter->Cardinality());
  }
  return constraints_.empty() ? count : std::numeric_limits<double>::infinity();
}

bool Space::Contains(const Configuration& configuration) const {
  if (static_cast<int>(configuration.coordinates.size()) != size()) return false;
  for (int i = 0; i < size(); ++i) {
    const double c = configuration.coordinates[i];
    const int64_t count = parameter(i).Cardinality();
    if (count == kUncountable ? !parameter(i).CoordinateOf(c).ok()
                              : !(c >= 0 && c < static_cast<double>(count) && c == std::floor(c))) {
      return false;
    }
  }
  return Satisfies(configuration);
}

std::optional<Configuration> Space::Sample(RandomStream& random, SamplingMethod method) const {
  Configuration drawn;
  drawn.coordinates.resize(parameters_.size());
  for (int draw = 0; draw < kMostDraws; ++draw) {
    for (int i = 0; i < size(); ++i) {
      drawn.coordinates[i] = method == SamplingMethod::kPrior ? parameter(i).SamplePrior(random)
                                                              : parameter(i).Sample(random);
    }
    if (Satisfies(drawn)) return drawn;
  }
  return std::nullopt;
}

std::vector<Configuration> Space::Neighbours(const Configuration& configuration,
                                             RandomStream& random) const {
  std::vector<Configuration> neighbours;
  Configuration changed = configuration;
  for (int i = 0; i < size(); ++i) {
    for (double c : parameter(i).Neighbours(configuration.coordinates[i], random)) {
      changed.coordinates[i] = c;
      if (Satisfies(changed)) neighbours.push_back(changed);
    }
    changed.coordinates[i] = configuration.coordinates[i];
  }
  return neighbours;
}

void Space::ForEach(const std::function<bool(const Configuration&)>& visit) const {
  Configuration at{std::vector<double>(parameters_.size(), 0.0)};
  for (;;) {
    if (Satisfies(at) && !visit(at)) return;
    int i = size() - 1;
    for (; i >= 0; --i) {
      if (++at.coordinates[i] < static_cast<double>(parameter(i).Cardinality())) break;
      at.coordinates[i] = 0;
    }
    if (i < 0) return;
  }
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
                        bayloom::ToString(ValueOf(configuration, i)));
  }
  return text;
}

Space::Builder::Builder() : space_(new Space) {}
Space::Builder::~Builder() = default;

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
  return Error{fmt::format("constraint '{}': column 1: constraints as text are yet to come", text)};
}

void Space::Builder::AddConstraint(std::span<const std::string> names, ConstraintFunction holds) {
  CodeConstraint constraint{{}, std::move(holds)};
  for (const std::string& name : names) {
    constraint.parameters.push_back(space_->IndexOf(name));
    if (constraint.parameters.back() < 0) {
      throw InputError(fmt::format("a constraint is on '{}', which is no parameter", name));
    }
  }
  space_->constraints_.push_back(std::move(constraint));
}

Result<std::shared_ptr<const Space>> Space::Builder::Build() {
  std::shared_ptr<Space> built(new Space);
  std::swap(built, space_);
  return std::shared_ptr<const Space>(std::move(built));
}

}  // namespace bayloom
