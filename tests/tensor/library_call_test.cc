// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/library_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/tensor/program.h"
#include "bayloom/tensor/schedule.h"
#include "bayloom/tensor/workload_json.h"
#include "tests/tensor/library_calls.h"

namespace bayloom::tensor {
namespace {

using bayloom::testing::RandomCall;
using bayloom::testing::SampleCall;
using ::testing::HasSubstr;

constexpr int kSamples = 300;

/// The result as the interpreter gives it.
HostTensor Interpreted(const SampleCall& sample) {
  std::vector<HostTensor> arguments = sample.arguments;
  Interpret(Lower(sample.workload), arguments);
  return std::move(arguments.back());
}

int64_t PlaceOf(const SampleCall& sample, int64_t line, int64_t i) {
  const int64_t n = sample.call().numbers[1], inner = sample.call().numbers[2];
  return line / inner * n * inner + i * inner + line % inner;
}

int64_t Lines(const SampleCall& sample) {
  return sample.call().numbers[0] * sample.call().numbers[2];
}

/// Whether element a of a line comes before element b, where NaN is greater than all numbers.
bool ComesBefore(const HostTensor& x, int64_t a, int64_t b, bool largest) {
  const double first = x.Get(a), second = x.Get(b);
  const bool equal = first == second || (std::isnan(first) && std::isnan(second));
  if (equal) return a < b;
  const bool less = std::isnan(second) || first < second;
  return less != largest;
}

/// Every element's rank is the number of those before it.
TEST(LibraryCall, TopKGivesTheElementsOfTheFirstRanks) {
  base::RandomStream random(1);
  for (int s = 0; s < kSamples; ++s) {
    const SampleCall sample = RandomCall(random);
    const LibraryCall call = sample.call();
    if (call.kernel != LibraryKernel::kTopK) continue;
    const HostTensor& x = sample.arguments[0];
    const HostTensor result = Interpreted(sample);
    const int64_t n = call.numbers[1], inner = call.numbers[2], k = call.numbers[3];
    for (int64_t line = 0; line < Lines(sample); ++line) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t rank = 0;
        for (int64_t other = 0; other < n; ++other) {
          rank += ComesBefore(x, PlaceOf(sample, line, other), PlaceOf(sample, line, i),
                              call.numbers[4] != 0);
        }
        if (rank >= k) continue;
        ASSERT_EQ(result.GetInt(line / inner * k * inner + rank * inner + line % inner), i);
      }
    }
  }
}

TEST(LibraryCall, ExtremesAreBeatenByNone) {
  base::RandomStream random(2);
  for (int s = 0; s < kSamples; ++s) {
    const SampleCall sample = RandomCall(random);
    const LibraryCall call = sample.call();
    if (call.kernel != LibraryKernel::kArgExtreme) continue;
    const HostTensor& x = sample.arguments[0];
    const HostTensor result = Interpreted(sample);
    const bool largest = call.numbers[3] != 0, last = call.numbers[4] != 0;
    for (int64_t line = 0; line < Lines(sample); ++line) {
      const int64_t found = result.GetInt(line);
      const double best = x.Get(PlaceOf(sample, line, found));
      for (int64_t i = 0; i < call.numbers[1]; ++i) {
        const double other = x.Get(PlaceOf(sample, line, i));
        const bool equal = other == best || (std::isnan(other) && std::isnan(best));
        if (equal) {
          ASSERT_TRUE(last ? i <= found : i >= found);
        } else {
          ASSERT_TRUE(std::isnan(best) || (largest ? other < best : other > best));
        }
      }
    }
  }
}

/// In double precision, rounded where they are stored.
TEST(LibraryCall, ScansAreSumsOverWhatComesBefore) {
  base::RandomStream random(3);
  for (int s = 0; s < kSamples; ++s) {
    const SampleCall sample = RandomCall(random);
    const LibraryCall call = sample.call();
    if (call.kernel != LibraryKernel::kScan) continue;
    const HostTensor& x = sample.arguments[0];
    const HostTensor result = Interpreted(sample);
    const bool product = call.numbers[3] != 0, exclusive = call.numbers[4] != 0,
               reverse = call.numbers[5] != 0;
    HostTensor one = HostTensor::Zeros(x.dtype, {1});
    for (int64_t line = 0; line < Lines(sample); ++line) {
      for (int64_t i = 0; i < call.numbers[1]; ++i) {
        double real = product ? 1 : 0;
        uint64_t integer = product ? 1 : 0;
        for (int64_t o = 0; o < call.numbers[1]; ++o) {
          const int64_t other = reverse ? call.numbers[1] - 1 - o : o;
          const bool counts = reverse ? other > i || (!exclusive && other == i)
                                      : other < i || (!exclusive && other == i);
          if (!counts) continue;
          const int64_t at = PlaceOf(sample, line, other);
          real = product ? real * x.Get(at) : real + x.Get(at);
          const auto element = static_cast<uint64_t>(x.GetInt(at));
          integer = product ? integer * element : integer + element;
        }
        const int64_t at = PlaceOf(sample, line, i);
        if (IsFloat(x.dtype)) {
          one.Set(0, real);
          ASSERT_EQ(result.Get(at), one.Get(0));
        } else {
          one.SetInt(0, static_cast<int64_t>(integer));
          ASSERT_EQ(result.GetInt(at), one.GetInt(0));
        }
      }
    }
  }
}

/// Where an update goes, by the definition of the call.
int64_t Target(const SampleCall& sample, int64_t update) {
  const LibraryCall call = sample.call();
  const HostTensor& indices = sample.arguments[1];
  const auto wrapped = [](int64_t index, int64_t extent) {
    return index < 0 ? index + extent : index;
  };
  int64_t place = 0;
  if (call.kernel == LibraryKernel::kScatterRows) {
    const int64_t depth = call.numbers[2], row = call.numbers[3];
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t extent = call.numbers[4 + d];
      place = place * extent + wrapped(indices.GetInt(update / row * depth + d), extent);
    }
    return place * row + update % row;
  }
  const int64_t axis = call.numbers[1], rank = call.numbers[2];
  std::vector<int64_t> position(rank);
  for (int64_t d = rank, rest = update; d-- > 0;) {
    position[d] = rest % call.numbers[3 + rank + d];
    rest /= call.numbers[3 + rank + d];
  }
  position[axis] = wrapped(indices.GetInt(update), call.numbers[3 + axis]);
  for (int64_t d = 0; d < rank; ++d) place = place * call.numbers[3 + d] + position[d];
  return place;
}

TEST(LibraryCall, ScatteringCombinesUpdatesInOrder) {
  base::RandomStream random(4);
  for (int s = 0; s < kSamples; ++s) {
    const SampleCall sample = RandomCall(random);
    const LibraryCall call = sample.call();
    if (call.operands.size() != 3) continue;
    const HostTensor result = Interpreted(sample);
    const HostTensor& updates = sample.arguments[2];
    HostTensor expected = sample.arguments[0];
    for (int64_t u = 0; u < updates.ElementCount(); ++u) {
      const int64_t at = Target(sample, u);
      const double old = expected.Get(at), update = updates.Get(u);
      const bool nan = std::isnan(old) || std::isnan(update);
      const double combined[] = {update, old + update, old * update,
                                 nan ? NAN : std::min(old, update),
                                 nan ? NAN : std::max(old, update)};
      if (IsFloat(expected.dtype) || call.numbers[0] == 0 || call.numbers[0] > 2) {
        expected.Set(at, combined[call.numbers[0]]);
      } else {
        const auto a = static_cast<uint64_t>(expected.GetInt(at));
        const auto b = static_cast<uint64_t>(updates.GetInt(u));
        expected.SetInt(at, static_cast<int64_t>(call.numbers[0] == 1 ? a + b : a * b));
      }
    }
    for (int64_t i = 0; i < expected.ElementCount(); ++i) {
      if (std::isnan(expected.Get(i))) {
        ASSERT_TRUE(std::isnan(result.Get(i)));
      } else {
        ASSERT_EQ(result.Get(i), expected.Get(i)) << Print(sample.workload);
      }
    }
  }
}

TEST(LibraryCall, PointsAreThoseOfTheInterpreter) {
  base::RandomStream random(5);
  for (int s = 0; s < 40; ++s) {
    const SampleCall sample = RandomCall(random);
    const HostTensor result = Interpreted(sample);
    PointEvaluator points(sample.workload, sample.arguments);
    std::vector<int64_t> index(result.shape.size(), 0);
    const double value = points.Evaluate(sample.workload.stages[0].output, index);
    EXPECT_TRUE(value == result.Get(0) || std::isnan(result.Get(0)));
  }
}

TEST(LibraryCall, RoundTripsThroughJson) {
  base::RandomStream random(6);
  for (int s = 0; s < 100; ++s) {
    const SampleCall sample = RandomCall(random);
    const nlohmann::json json = WorkloadToJson(sample.workload);
    const Result<Workload> back = WorkloadFromJson(nlohmann::json::parse(json.dump()));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(WorkloadToJson(*back), json);
    EXPECT_EQ(back->StructuralHash(), sample.workload.StructuralHash());
    EXPECT_TRUE(Validate(Lower(*back)));
    EXPECT_GT(back->Flops(), 0);
  }
}

/// Any number changed makes another task, or one that no kernel could run.
TEST(LibraryCall, NumbersThatDoNotSuitAreRefused) {
  base::RandomStream random(7);
  int refused = 0, others = 0;
  for (int s = 0; s < 200; ++s) {
    const SampleCall sample = RandomCall(random);
    nlohmann::json json = WorkloadToJson(sample.workload);
    nlohmann::json& nodes = json["stages"][0]["value"];
    constexpr int64_t kOther[] = {-1,
                                  0,
                                  1,
                                  2,
                                  1000,
                                  std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min()};
    nlohmann::json& node = nodes[random.UniformInt(static_cast<int64_t>(nodes.size()) - 1)];
    if (node[0] != "int") continue;
    node[2] = kOther[random.UniformInt(std::size(kOther))];
    const Result<Workload> changed = WorkloadFromJson(json);
    if (!changed) {
      EXPECT_EQ(changed.error().message.find('\n'), std::string::npos);
      ++refused;
    } else if (changed->StructuralHash() != sample.workload.StructuralHash()) {
      std::vector<HostTensor> arguments = sample.arguments;
      Interpret(Lower(*changed), arguments);
      ++others;
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(others, 2);
}

TEST(LibraryCall, IsAllOfItsWorkload) {
  base::RandomStream random(8);
  const SampleCall sample = RandomCall(random);
  nlohmann::json json = WorkloadToJson(sample.workload);
  json["stages"].push_back(json["stages"][0]);
  EXPECT_FALSE(WorkloadFromJson(json));
  json = WorkloadToJson(sample.workload);
  nlohmann::json& nodes = json["stages"][0]["value"];
  nodes.push_back({"negate", nodes.back()[1], nodes.size() - 1});
  EXPECT_FALSE(WorkloadFromJson(json));
  json = WorkloadToJson(sample.workload);
  json["stages"][0]["value"].back()[2] = "no such kernel";
  const Result<Workload> unknown = WorkloadFromJson(json);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("unknown kernel"));
}

TEST(LibraryCall, NoPrimitiveTransformsIt) {
  base::RandomStream random(9);
  const SampleCall sample = RandomCall(random);
  Schedule schedule(sample.workload, 0);
  const Result<BlockVar> block = schedule.GetBlock("y");
  ASSERT_TRUE(block);
  EXPECT_FALSE(schedule.GetLoops(*block));
  EXPECT_FALSE(schedule.ComputeInline(*block));
  EXPECT_FALSE(schedule.CacheWrite(*block, StorageScope::kGlobal));
}

TEST(LibraryCall, PrintsOperandsAndNumbers) {
  base::RandomStream random(10);
  const SampleCall sample = bayloom::testing::SampleTopK(DType::kFloat32, 2, 8, 1, 3, true, random);
  EXPECT_THAT(Print(sample.workload), HasSubstr("topk(x; 2, 8, 1, 3, 1)"));
  EXPECT_THAT(Print(Lower(sample.workload)), HasSubstr("topk(x; 2, 8, 1, 3, 1)"));
}

}  // namespace
}  // namespace bayloom::tensor
