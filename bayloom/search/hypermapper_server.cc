// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/hypermapper_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

#include "bayloom/base/clock.h"
#include "bayloom/base/read_line.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/search/comma_list.h"

namespace bayloom::search {
namespace {

/// Their spelling: permutations are Python's tuples.
std::string TheirText(const space::Value& value) {
  if (const auto* items = std::get_if<std::vector<int64_t>>(&value)) {
    return fmt::format("({})", fmt::join(*items, ", "));
  }
  return space::ToString(value);
}

/// The cell under a name; throws InputError if there is none.
const std::string& CellOf(const std::string& name, const std::vector<std::string>& names,
                          const std::vector<std::string>& cells) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto column = static_cast<size_t>(found - names.begin());
  if (column < std::min(names.size(), cells.size())) return cells[column];
  throw InputError(
      fmt::format("the client's answer has no '{}': its columns are '{}', a row is '{}'", name,
                  base::SingleLine(fmt::format("{}", fmt::join(names, ",")), 200),
                  base::SingleLine(fmt::format("{}", fmt::join(cells, ",")), 200)));
}

}  // namespace

HyperMapperServer::HyperMapperServer(const Scenario& scenario, Study& study)
    : scenario_(scenario),
      study_(study),
      earlier_(study.elapsed()),
      begun_(base::MonotonicSeconds()) {}

double HyperMapperServer::Elapsed() const { return earlier_ + base::MonotonicSeconds() - begun_; }

void HyperMapperServer::Run(std::istream& in, std::ostream& out) {
  while (true) {
    const std::vector<space::Configuration> configurations = Choose();
    if (configurations.empty()) break;
    Request(configurations, out);
    if (!TakeAnswers(configurations, in)) return;
  }
  out << "End of HyperMapper" << std::endl;
}

std::vector<space::Configuration> HyperMapperServer::Choose() {
  int64_t wanted =
      std::max<int64_t>(1, scenario_.optimizer_options.initial_samples - study_.trials());
  if (scenario_.max_trials) wanted = std::min(wanted, *scenario_.max_trials - study_.trials());
  if (wanted <= 0 || (scenario_.max_seconds && Elapsed() >= *scenario_.max_seconds)) return {};
  return study_.Ask(static_cast<int>(wanted));
}

void HyperMapperServer::Request(const std::vector<space::Configuration>& configurations,
                                std::ostream& out) const {
  const space::Space& space = study_.space();
  std::vector<std::string> cells;
  for (int i = 0; i < space.size(); ++i) cells.push_back(space.parameter(i).name());
  out << fmt::format("Request {}\n{}\n", configurations.size(), fmt::join(cells, ","));
  for (const space::Configuration& configuration : configurations) {
    for (int i = 0; i < space.size(); ++i) {
      cells[static_cast<size_t>(i)] =
          space.IsActive(configuration, i) ? TheirText(space.ValueOf(configuration, i)) : "";
    }
    out << fmt::format("{}\n", fmt::join(cells, ","));
  }
  out.flush();
}

bool HyperMapperServer::TakeAnswers(const std::vector<space::Configuration>& configurations,
                                    std::istream& in) {
  const std::optional<base::Line> header = base::ReadLine(in);
  if (!header) return false;
  const std::vector<std::string> names = SplitAtCommas(header->text);
  for (const space::Configuration& configuration : configurations) {
    // A client that dies while it writes leaves a part of a row, whose numbers mean nothing.
    const std::optional<base::Line> row = base::ReadLine(in);
    if (!row || !row->is_whole) return false;
    study_.Tell(configuration, OutcomeOf(names, SplitAtCommas(row->text)), Elapsed());
  }
  return true;
}

trial::Outcome HyperMapperServer::OutcomeOf(const std::vector<std::string>& names,
                                            const std::vector<std::string>& cells) const {
  if (scenario_.validity) {
    const std::string& valid = CellOf(scenario_.validity->name, names, cells);
    if (valid != scenario_.validity->true_value) {
      return trial::Outcome::Infeasible(trial::Verdict::kCrash,
                                        "the client says that it is not valid");
    }
  }
  const std::string& text = CellOf(scenario_.objectives[0].name, names, cells);
  trial::Outcome outcome;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), outcome.value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(outcome.value)) {
    return trial::Outcome::Infeasible(
        trial::Verdict::kInvalidAnswer,
        fmt::format("expected a number, found '{}'", base::SingleLine(text)));
  }
  return outcome;
}

}  // namespace bayloom::search
