// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/network_on_chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "bayloom/base/shorthand.h"

namespace bayloom::mapspace {
namespace {

double NumberOf(base::Shorthand& line, const std::string& option, double otherwise) {
  const std::string text = line.Option(option, "");
  if (text.empty()) return otherwise;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !std::isfinite(number) || number < 0) {
    line.Refuse(fmt::format("{}={} is no number of at least 0", option, text));
  }
  return number;
}

}  // namespace

std::string NetworkOnChip::Describe() const {
  std::string text = topology == Topology::kBus ? fmt::format("bus:{}", columns)
                                                : fmt::format("mesh:{}x{}", columns, rows);
  if (std::isfinite(bandwidth)) text += fmt::format(",bandwidth={}", bandwidth);
  if (hop_energy_pj > 0) text += fmt::format(",energy={}", hop_energy_pj);
  return text;
}

int NetworkOnChip::CoreAlong(int place) const {
  const int64_t row = place / columns, along = place % columns;
  return static_cast<int>(row * columns + (row % 2 == 0 ? along : columns - 1 - along));
}

NetworkOnChip ParseNetworkOnChip(std::string_view text) {
  base::Shorthand line("network on chip", text);
  NetworkOnChip network;
  if (line.name() == "bus") {
    line.SetExample("bus:4,bandwidth=16,energy=0.5");
    network.topology = NetworkOnChip::Topology::kBus;
    network.columns = line.Number("number of cores");
  } else {
    line.SetExample("mesh:2x2,bandwidth=16,energy=0.5");
    if (line.name() != "mesh") line.Refuse("there are mesh and bus");
    const std::vector<int64_t> sizes = line.Numbers("columns x rows", 2);
    network.columns = sizes[0];
    network.rows = sizes[1];
  }
  if (network.columns > kMaxCores || network.rows > kMaxCores / network.columns) {
    line.Refuse(fmt::format("there are more than {} cores", kMaxCores));
  }
  network.bandwidth = NumberOf(line, "bandwidth", network.bandwidth);
  if (network.bandwidth == 0) line.Refuse("a bandwidth of 0 moves nothing");
  network.hop_energy_pj = NumberOf(line, "energy", 0);
  line.ExpectNoMore();
  return network;
}

NetworkTraffic::NetworkTraffic(const NetworkOnChip& network) : network_(network) {
  const bool is_bus = network_.topology == NetworkOnChip::Topology::kBus;
  passed_.assign(is_bus ? 1 : 4 * static_cast<size_t>(network_.CoreCount()), 0);
}

int NetworkTraffic::Link(int64_t column, int64_t row, Direction direction) const {
  return static_cast<int>(4 * (row * network_.columns + column)) + direction;
}

std::vector<int> NetworkTraffic::Route(int from, int to) const {
  if (from == to) return {};
  if (network_.topology == NetworkOnChip::Topology::kBus) return {0};
  int64_t column = from % network_.columns, row = from / network_.columns;
  const int64_t to_column = to % network_.columns, to_row = to / network_.columns;
  std::vector<int> links;
  for (; column < to_column; ++column) links.push_back(Link(column, row, kEast));
  for (; column > to_column; --column) links.push_back(Link(column, row, kWest));
  for (; row < to_row; ++row) links.push_back(Link(column, row, kSouth));
  for (; row > to_row; --row) links.push_back(Link(column, row, kNorth));
  return links;
}

std::vector<int> NetworkTraffic::MemoryRoute(int core, bool to_memory) const {
  if (network_.CoreCount() == 1) return {};
  if (network_.topology == NetworkOnChip::Topology::kBus) return {0};
  return to_memory ? Route(core, 0) : Route(0, core);
}

void NetworkTraffic::Pass(std::vector<int> links, double words) {
  std::ranges::sort(links);
  const auto repeated = std::ranges::unique(links);
  links.erase(repeated.begin(), repeated.end());
  for (const int link : links) passed_[link] += words;
  word_hops_ += words * static_cast<double>(links.size());
}

void NetworkTraffic::FromMemory(std::span<const int> cores, double words) {
  std::vector<int> links;
  for (const int core : cores) {
    const std::vector<int> route = MemoryRoute(core, false);
    links.insert(links.end(), route.begin(), route.end());
  }
  Pass(std::move(links), words);
  sent_ += words;
  delivered_ += words * static_cast<double>(cores.size());
}

void NetworkTraffic::ToMemory(int core, double words) {
  Pass(MemoryRoute(core, true), words);
  sent_ += words;
  delivered_ += words;
}

void NetworkTraffic::Between(int from, std::span<const int> to, double words) {
  std::vector<int> links;
  for (const int core : to) {
    const std::vector<int> route = Route(from, core);
    links.insert(links.end(), route.begin(), route.end());
  }
  Pass(std::move(links), words);
  sent_ += words;
  delivered_ += words * static_cast<double>(to.size());
  between_cores_ += words * static_cast<double>(to.size());
}

double NetworkTraffic::BusiestWords() const { return std::ranges::max(passed_); }

int64_t NetworkTraffic::Cycles() const {
  return static_cast<int64_t>(std::ceil(BusiestWords() / network_.bandwidth));
}

}  // namespace bayloom::mapspace
