// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/chain_of_trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "bayloom/space/constraint_parser.h"
#include "bayloom/space/constraint_solver.h"
#include "bayloom/space/space.h"

namespace bayloom::space {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::shared_ptr<const Space> Build(Space::Builder& builder,
                                   std::initializer_list<const char*> constraints) {
  for (const char* text : constraints) {
    const Status added = builder.AddConstraint(text);
    EXPECT_TRUE(added.ok()) << added.error().message;
  }
  Result<std::shared_ptr<const Space>> built = builder.Build();
  EXPECT_TRUE(built.ok()) << built.error().message;
  return *built;
}

Configuration At(const Space& space, std::map<std::string, Value> values) {
  return *space.Parse(values);
}

/// Hellsten et al. 2023, figure 4.
std::shared_ptr<const Space> Figure4() {
  Space::Builder builder;
  builder.Add(MakeOrdinal("p1", {2, 4}));
  builder.Add(MakeOrdinal("p2", {2, 4}));
  builder.Add(MakeOrdinal("p3", {1, 4}));
  builder.Add(MakeOrdinal("p4", {1, 2, 4}));
  builder.Add(MakeOrdinal("p5", {2, 4, 8}));
  return Build(builder, {"p1 >= p2", "p4 >= p3", "p5 >= 2 * p4"});
}

TEST(ChainOfTrees, IsThatOfThePaper) {
  const auto space = Figure4();
  std::vector<std::pair<int, double>> trees;
  for (const Tree& tree : space->chain().trees()) trees.emplace_back(tree.levels(), tree.leaves());
  EXPECT_THAT(trees, UnorderedElementsAre(std::pair(2, 3.0), std::pair(3, 7.0)));
  EXPECT_EQ(space->CountFeasible(), 21);
  const auto contains = [&](int64_t p1, int64_t p2, int64_t p3, int64_t p4, int64_t p5) {
    return space->Contains(
        At(*space, {{"p1", p1}, {"p2", p2}, {"p3", p3}, {"p4", p4}, {"p5", p5}}));
  };
  EXPECT_TRUE(contains(2, 2, 4, 4, 8));  // the leftmost and the rightmost path
  EXPECT_FALSE(contains(2, 4, 4, 4, 8));
  EXPECT_FALSE(contains(4, 4, 4, 2, 8));
  EXPECT_FALSE(contains(4, 4, 1, 4, 4));
}

TEST(ChainOfTrees, PrintsItsSpace) {
  EXPECT_EQ(Figure4()->Describe(),
            "p1: ordinal {2, 4}\np2: ordinal {2, 4}\np3: ordinal {1, 4}\np4: ordinal {1, 2, 4}\n"
            "p5: ordinal {2, 4, 8}\np1 >= p2\np4 >= p3\np5 >= 2 * p4\n"
            "21 feasible configurations\n");
}

TEST(ChainOfTrees, SamplesLeavesUniformly) {
  const auto space = Figure4();
  base::RandomStream random(1);
  std::map<std::vector<double>, double> hits;
  constexpr double kPerLeaf = 1000;
  for (int i = 0; i < 21 * kPerLeaf; ++i) ++hits[space->Sample(random)->coordinates];
  ASSERT_EQ(hits.size(), 21);
  double chi_square = 0;
  for (const auto& [leaf, count] : hits) {
    chi_square += (count - kPerLeaf) * (count - kPerLeaf) / kPerLeaf;
  }
  EXPECT_LT(chi_square, 45.3);  // 20 degrees of freedom, p = 0.001
  EXPECT_GT(chi_square, 5.9);   // p = 0.999: nor too even to be random
}

TEST(ChainOfTrees, BiasedPathsFavourThinBranches) {
  Space::Builder builder;
  builder.Add(MakeOrdinal("a", {0, 1}));
  builder.Add(MakeInteger("b", 1, 9));
  const auto space = Build(builder, {"a == 0 or b == 1"});
  base::RandomStream random(2);
  const auto share = [&](SamplingMethod method) {
    int ones = 0;
    for (int i = 0; i < 10000; ++i) {
      ones += space->Sample(random, method)->coordinates[0] == 1;
    }
    return ones / 10000.0;
  };
  EXPECT_NEAR(share(SamplingMethod::kUniformLeaves), 0.1, 0.015);
  // Half if the tree branches on `a` first; (1 / 9) * (1 / 2) if on `b`.
  const double biased = share(SamplingMethod::kBiasedPath);
  EXPECT_TRUE(std::abs(biased - 0.5) < 0.025 || std::abs(biased - 1.0 / 18) < 0.012) << biased;
}

TEST(ChainOfTrees, SamplesByPrior) {
  Space::Builder builder;
  auto a = MakeInteger("a", 1, 3);
  ASSERT_TRUE(a->SetPrior({1, 2, 5}).ok());
  auto b = MakeInteger("b", 1, 3);
  ASSERT_TRUE(b->SetPrior({3, 1, 1}).ok());
  builder.Add(std::move(a)).Add(std::move(b));
  const auto space = Build(builder, {"a + b <= 4"});
  // (1, 1) (1, 2) (1, 3) (2, 1) (2, 2) (3, 1) weigh 3 1 1 6 2 15.
  const double weights[3][3] = {{3, 1, 1}, {6, 2, 0}, {15, 0, 0}};
  double hits[3][3] = {};
  base::RandomStream random(3);
  constexpr int kDraws = 28000;
  for (int i = 0; i < kDraws; ++i) {
    const Configuration drawn = *space->Sample(random, SamplingMethod::kPrior);
    ++hits[static_cast<int>(drawn.coordinates[0])][static_cast<int>(drawn.coordinates[1])];
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(hits[i][j], weights[i][j] * kDraws / 28, 5 * std::sqrt(kDraws / 4.0)) << i << j;
    }
  }
}

TEST(ChainOfTrees, ContradictionsAreNamed) {
  Space::Builder builder;
  builder.Add(MakeInteger("a", 1, 4)).Add(MakeInteger("b", 1, 4)).Add(MakeInteger("c", 1, 4));
  ASSERT_TRUE(builder.AddConstraint("a < b and b < a").ok());
  EXPECT_THAT(builder.Build().error().message,
              HasSubstr("the constraints on 'a', 'b' contradict each other"));
  builder.Add(MakeInteger("a", 1, 4));
  ASSERT_TRUE(builder.AddConstraint("a % 5 == 0").ok());
  EXPECT_THAT(builder.Build().error().message, HasSubstr("the constraints on 'a' leave no value"));
  ASSERT_TRUE(builder.AddConstraint("1 == 2").ok());
  EXPECT_FALSE(builder.Build().ok());
}

TEST(ChainOfTrees, ConstraintsInCode) {
  Space::Builder builder;
  builder.Add(MakeInteger("a", 1, 6)).Add(MakeInteger("b", 1, 6));
  builder.Add(MakeCategorical("c", {"x", "y"}));
  const std::string names[] = {"a", "b", "c"};
  builder.AddConstraint(names, [](std::span<const Value> v) {
    return std::get<int64_t>(v[0]) * std::get<int64_t>(v[1]) == 6 || v[2] == Value("x");
  });
  const auto space = Build(builder, {"a <= b"});
  EXPECT_EQ(space->CountFeasible(), 21 + 2);
  EXPECT_THROW(builder.AddConstraint(names, nullptr), InputError);
}

TEST(ChainOfTrees, RealsAreDrawnUntilTheirConstraintsHold) {
  Space::Builder builder;
  builder.Add(MakeReal("x", 0, 1)).Add(MakeReal("y", 0, 1)).Add(MakeInteger("n", 1, 4));
  builder.Add(MakeInteger("m", 1, 4)).Add(MakeReal("free", 0, 1));
  const auto space = Build(builder, {"x * n < y", "n < m"});
  EXPECT_TRUE(std::isinf(space->CountFeasible()));
  base::RandomStream random(4);
  // Volume below y = n x: 1 / (2 n). With m: 3 ways for n = 1, 2 for 2, 1 for 3.
  const double weights[] = {3.0 / 2, 2.0 / 4, 1.0 / 6};
  double hits[3] = {};
  for (int i = 0; i < 6500; ++i) {
    const Configuration drawn = *space->Sample(random);
    ASSERT_TRUE(space->Contains(drawn));
    ++hits[static_cast<int>(drawn.coordinates[2])];
    for (const Configuration& neighbour : space->Neighbours(drawn, random)) {
      ASSERT_TRUE(space->Contains(neighbour));
    }
  }
  for (int n = 0; n < 3; ++n) EXPECT_NEAR(hits[n], 3000 * weights[n], 200) << n;

  builder.Add(MakeReal("x", 0, 1));
  const auto tied = Build(builder, {"x == 0.123456789"});  // no draw ever hits that
  EXPECT_EQ(tied->Sample(random)->coordinates.back(), 0.123456789);
}

TEST(ChainOfTrees, NextFeasibleValuesAreNeighbours) {
  Space::Builder builder;
  builder.Add(MakeOrdinal("a", {16, 32, 48, 64, 80, 96}));
  builder.Add(MakeInteger("b", 1, 40)).Add(MakePermutation("p", 3));
  const auto space = Build(builder, {"a % b == 0", "p_i0 < p_i1"});
  base::RandomStream random(5);
  const Configuration from =
      At(*space, {{"a", int64_t{48}}, {"b", int64_t{8}}, {"p", std::vector<int64_t>{0, 1, 2}}});
  std::vector<std::string> neighbours;
  for (const Configuration& c : space->Neighbours(from, random)) {
    neighbours.push_back(space->ToString(c));
  }
  EXPECT_THAT(neighbours, UnorderedElementsAre("a=32 b=8 p=[0, 1, 2]", "a=64 b=8 p=[0, 1, 2]",
                                               "a=48 b=6 p=[0, 1, 2]", "a=48 b=12 p=[0, 1, 2]",
                                               "a=48 b=8 p=[0, 2, 1]"));
}

TEST(ChainOfTrees, SharesEqualSubtrees) {
  // All splits of 2^20 in four: only the product so far matters.
  Space::Builder builder;
  std::vector<double> powers;
  for (int e = 0; e <= 20; ++e) powers.push_back(std::exp2(e));
  for (const char* name : {"a", "b", "c", "d"}) builder.Add(MakeOrdinal(name, powers));
  const auto space = Build(builder, {"a * b * c * d == 1048576"});
  EXPECT_EQ(space->CountFeasible(), 1771);  // binomial(23, 3)
  EXPECT_LT(space->chain().trees()[0].nodes(), 70);
}

TEST(ChainOfTrees, RemaindersOfSumsAreShared) {
  // Of 1e8 combinations; each remainder of the sum modulo 97 is about as frequent.
  Space::Builder builder;
  std::string sum;
  const int factors[] = {7919, 104729, 15485863, 1299709, 999983, 611953, 350377, 224737};
  for (int i = 0; i < 8; ++i) {
    builder.Add(MakeInteger(fmt::format("x{}", i), 0, 9));
    sum += fmt::format("{}x{} * {}", i > 0 ? " + " : "", i, factors[i]);
  }
  const auto space = Build(builder, {("(" + sum + ") % 97 == 0").c_str()});
  EXPECT_NEAR(space->CountFeasible(), 1e8 / 97, 1e3);
  EXPECT_LT(space->chain().trees()[0].nodes(), 8 * 97);
}

TEST(ChainOfTrees, LargeDomainsBecomeRuns) {
  Space::Builder builder;
  builder.Add(MakeInteger("a", 1, 100'000)).Add(MakeInteger("b", 1, 100'000));
  const auto space = Build(builder, {"a <= b"});
  EXPECT_EQ(space->CountFeasible(), 5000050000.0);
  EXPECT_LT(space->chain().trees()[0].runs(), 250'000);
}

// What cannot be enumerated is drawn and looked at instead.
TEST(ChainOfTrees, EntangledConstraintsAreLoose) {
  Space::Builder builder;
  builder.Add(MakePermutation("p", 12)).Add(MakeInteger("a", 0, 11));
  const auto space = Build(builder, {"p_i0 < p_i1", "p[0] == a"});
  EXPECT_TRUE(space->chain().has_loose_constraints());
  base::RandomStream random(6);
  for (int i = 0; i < 20; ++i) {
    const Configuration drawn = *space->Sample(random);
    const auto p = std::get<std::vector<int64_t>>(space->ValueOf(drawn, 0));
    EXPECT_EQ(Value(p[0]), space->ValueOf(drawn, 1));
    EXPECT_LT(std::find(p.begin(), p.end(), 0), std::find(p.begin(), p.end(), 1));
  }
}

/// Random constraints on random parameters.
class TextGenerator {
 public:
  TextGenerator(const ExpressionGraph::Parameters& parameters, base::RandomStream& random)
      : parameters_(parameters), random_(random) {}

  std::string Truth(int depth) {
    switch (random_.UniformInt(depth > 0 ? 9 : 3)) {
      case 0:
      case 1:
        return fmt::format("{} {} {}", Number(depth), Pick({"==", "!=", "<", "<=", ">", ">="}),
                           Number(depth));
      case 2:
        return fmt::format("{} {} [{}, {}, 3]", Number(depth), Pick({"in", "not in"}),
                           random_.UniformInt(4), Number(0));
      case 3:
        return fmt::format("{} % {} == 0", Number(depth - 1), Number(depth - 1));
      case 4:
        return fmt::format("({}) and ({})", Truth(depth - 1), Truth(depth - 1));
      case 5:
        return fmt::format("({}) or ({})", Truth(depth - 1), Truth(depth - 1));
      case 6:
        return fmt::format("not ({})", Truth(depth - 1));
      case 7:
        return fmt::format("({}) -> ({})", Truth(depth - 1), Truth(depth - 1));
      default:
        return fmt::format("{} <= {} < {}", Number(depth - 1), Number(depth - 1),
                           Number(depth - 1));
    }
  }

 private:
  std::string Pick(std::vector<std::string> choices) {
    return choices[random_.UniformInt(static_cast<int64_t>(choices.size()))];
  }

  std::string Leaf() {
    if (random_.UniformInt(4) == 0) return fmt::format("{}", random_.UniformInt(9));
    const Parameter& parameter =
        *parameters_[random_.UniformInt(static_cast<int64_t>(parameters_.size()))];
    if (parameter.ElementCount() == 0) return parameter.name();
    const int64_t element = random_.UniformInt(parameter.ElementCount());
    if (parameter.kind() == ParameterKind::kPermutation && random_.UniformInt(2) == 0) {
      return fmt::format("{}_i{}", parameter.name(), element);
    }
    return fmt::format("{}[{}]", parameter.name(), element);
  }

  std::string Number(int depth) {
    if (depth <= 0) return Leaf();
    switch (random_.UniformInt(8)) {
      case 0:
      case 1:
        return Leaf();
      case 2:
      case 3:
        return fmt::format("({} {} {})", Number(depth - 1), Pick({"+", "-", "*"}),
                           Number(depth - 1));
      case 4:
        return fmt::format("({} {} {})", Number(depth - 1), Pick({"/", "//", "%"}),
                           Number(depth - 1));
      case 5:
        return fmt::format("{}({}, {})", Pick({"min", "max"}), Number(depth - 1),
                           Number(depth - 1));
      case 6:
        return fmt::format("({} if {} else {})", Number(depth - 1), Truth(depth - 1),
                           Number(depth - 1));
      default:
        return fmt::format("{}({})", Pick({"abs", "-", "floor"}), Number(depth - 1));
    }
  }

  const ExpressionGraph::Parameters& parameters_;
  base::RandomStream& random_;
};

std::unique_ptr<Parameter> RandomParameter(std::string name, base::RandomStream& random) {
  switch (random.UniformInt(7)) {
    case 0:
      return MakeCategorical(std::move(name), {"u", "v", "w"});
    case 1:
      return MakePermutation(std::move(name), 3);
    case 2:
      return MakeFactorization(std::move(name), 12, 2);
    case 3:
      return MakeOrdinal(std::move(name), {0.5, 1, 2, 3.5, 8});
    case 4:
      return MakeOrdinal(std::move(name), {1, 2, 4, 8});
    default: {
      const int64_t low = random.UniformInt(4) - 2;
      return MakeInteger(std::move(name), low, low + random.UniformInt(9));
    }
  }
}

std::vector<std::unique_ptr<Parameter>> RandomParameters(uint64_t seed) {
  base::RandomStream random(seed);
  std::vector<std::unique_ptr<Parameter>> parameters;
  const int64_t count = 2 + random.UniformInt(4);
  for (int64_t i = 0; i < count; ++i) {
    parameters.push_back(RandomParameter(fmt::format("x{}", i), random));
  }
  return parameters;
}

/// All configurations, by trying every combination.
std::set<std::vector<double>> Enumerate(const ExpressionGraph::Parameters& parameters,
                                        const std::vector<Constraint>& constraints) {
  std::set<std::vector<double>> feasible;
  std::vector<double> at(parameters.size(), 0);
  for (;;) {
    if (std::all_of(constraints.begin(), constraints.end(),
                    [&](const Constraint& c) { return c.Holds(at); })) {
      feasible.insert(at);
    }
    size_t i = 0;
    while (i < at.size() && ++at[i] == static_cast<double>(parameters[i]->Cardinality())) {
      at[i++] = 0;
    }
    if (i == at.size()) return feasible;
  }
}

/// One parameter changed: to its next feasible values if ordered, else to those one step away.
std::set<std::vector<double>> ExpectedNeighbours(const ExpressionGraph::Parameters& parameters,
                                                 const std::set<std::vector<double>>& feasible,
                                                 const std::vector<double>& from,
                                                 base::RandomStream& random) {
  std::set<std::vector<double>> expected;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::vector<double> to = from;
    const ParameterKind kind = parameters[i]->kind();
    if (kind == ParameterKind::kInteger || kind == ParameterKind::kOrdinal) {
      for (int step : {-1, 1}) {
        for (to[i] = from[i] + step; to[i] >= 0 && to[i] < 100; to[i] += step) {
          if (!feasible.contains(to)) continue;
          expected.insert(to);
          break;
        }
      }
    } else {
      for (double other : parameters[i]->Neighbours(from[i], random)) {
        to[i] = other;
        if (feasible.contains(to)) expected.insert(to);
      }
    }
  }
  return expected;
}

/// Propagation removes nothing feasible, whichever parameter is known, and what is solved for is
/// feasible.
void CheckSolver(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
                 const std::vector<int>& constraints, const std::set<std::vector<double>>& feasible,
                 base::RandomStream& random) {
  std::vector<int> members(parameters.size());
  std::iota(members.begin(), members.end(), 0);
  const Propagation propagation(graph, parameters, members, constraints);
  for (const std::vector<double>& at : feasible) {
    std::vector<NumberSet> sets = propagation.Domains();
    const auto known = static_cast<int>(random.UniformInt(std::ssize(members)));
    sets[known] = NumberSet::Point(propagation.NumberOf(known, at[known]));
    ASSERT_TRUE(propagation.Narrow(sets));
    for (int m : members) ASSERT_TRUE(sets[m].Contains(propagation.NumberOf(m, at[m])));
  }
  const ConstraintSolver solver(graph, parameters, members, constraints);
  std::vector<double> drawn(parameters.size());
  for (int i = 0; i < 5; ++i) {
    if (!solver.Sample(random, SamplingMethod::kUniformLeaves, drawn)) continue;
    ASSERT_TRUE(feasible.contains(drawn));
  }
}

class RandomSpace : public ::testing::TestWithParam<int> {};

TEST_P(RandomSpace, AgreesWithTryingEveryCombination) {
  int empty = 0;
  int partly = 0;
  for (int round = 0; round < 60; ++round) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * 1000 + round;
    base::RandomStream random(seed);
    const ExpressionGraph::Parameters parameters = RandomParameters(seed);
    ExpressionGraph graph;
    Space::Builder builder;
    for (auto& parameter : RandomParameters(seed)) builder.Add(std::move(parameter));
    std::vector<Constraint> constraints;
    std::vector<int> expressions;
    std::string texts;
    const int64_t count = 1 + random.UniformInt(4);
    for (int64_t c = 0; c < count; ++c) {
      const std::string text = TextGenerator(parameters, random).Truth(2);
      texts += text + "\n";
      const Result<std::vector<int>> parsed = ParseConstraint(text, parameters, graph);
      ASSERT_TRUE(parsed.ok()) << parsed.error().message;
      ASSERT_TRUE(builder.AddConstraint(text).ok());
      for (int expression : *parsed) constraints.emplace_back(graph, parameters, expression);
      expressions.insert(expressions.end(), parsed->begin(), parsed->end());
    }
    SCOPED_TRACE(texts);
    const std::set<std::vector<double>> feasible = Enumerate(parameters, constraints);
    CheckSolver(graph, parameters, expressions, feasible, random);
    const Result<std::shared_ptr<const Space>> built = builder.Build();
    ASSERT_EQ(built.ok(), !feasible.empty());
    if (feasible.empty()) {
      ++empty;
      continue;
    }
    const Space& space = **built;
    EXPECT_EQ(space.CountFeasible(), static_cast<double>(feasible.size()));
    std::set<std::vector<double>> visited;
    space.ForEach([&](const Configuration& c) {
      EXPECT_TRUE(visited.insert(c.coordinates).second);
      return true;
    });
    EXPECT_EQ(visited, feasible);

    double combinations = 1;
    Configuration probe;
    for (int i = 0; i < space.size(); ++i) {
      combinations *= static_cast<double>(space.parameter(i).Cardinality());
    }
    partly += static_cast<double>(feasible.size()) < combinations;
    for (int i = 0; i < 200; ++i) {
      probe.coordinates.clear();
      for (const auto& parameter : parameters)
        probe.coordinates.push_back(parameter->Sample(random));
      ASSERT_EQ(space.Contains(probe), feasible.contains(probe.coordinates));
    }
    for (int i = 0; i < 30; ++i) {
      const Configuration drawn = *space.Sample(
          random, i % 2 == 0 ? SamplingMethod::kUniformLeaves : SamplingMethod::kBiasedPath);
      ASSERT_TRUE(feasible.contains(drawn.coordinates));
      std::set<std::vector<double>> neighbours;
      for (const Configuration& n : space.Neighbours(drawn, random)) {
        EXPECT_TRUE(neighbours.insert(n.coordinates).second);
      }
      EXPECT_EQ(neighbours, ExpectedNeighbours(parameters, feasible, drawn.coordinates, random));
    }
  }
  EXPECT_LT(empty, 45);
  EXPECT_GT(partly, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSpace, ::testing::Range(0, 8));

}  // namespace
}  // namespace bayloom::space
