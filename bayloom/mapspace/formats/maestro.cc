// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/formats/maestro.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/mapspace/unit_cost.h"

namespace bayloom::mapspace {
namespace {

constexpr int64_t kMaxMaestroNumber = int64_t{1} << 40;
constexpr int kMaxMaestroLayers = 100000;

/// The words, numbers and braces of a file; what else stands between them is no more than blanks to
/// that tool's reader.
class MaestroTokens {
 public:
  MaestroTokens(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    Advance();
  }

  bool AtEnd() const { return token_.empty(); }
  std::string_view token() const { return token_; }

  std::string_view Take() {
    const std::string_view taken = token_;
    if (taken.empty()) Fail("ends too early");
    Advance();
    return taken;
  }

  bool TakeIf(std::string_view expected) {
    if (token_ != expected) return false;
    Advance();
    return true;
  }

  void Expect(std::string_view expected) {
    if (!TakeIf(expected)) {
      if (AtEnd()) Fail("ends too early");
      Fail(fmt::format("expected '{}', found '{}'", expected, base::SingleLine(token_)));
    }
  }

  [[noreturn]] void Fail(const std::string& message) const {
    throw InputError(
        fmt::format("{}:{}: {}", base::SingleLine(file_, base::kMaxPathBytes), line_, message));
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n,:;()->";

  void Advance() {
    for (;;) {
      const size_t blanks = std::min(rest_.find_first_not_of(kBlanks), rest_.size());
      next_line_ += std::count(rest_.begin(), rest_.begin() + static_cast<int64_t>(blanks), '\n');
      rest_.remove_prefix(blanks);
      if (!rest_.starts_with("//")) break;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
    line_ = next_line_;
    const bool is_brace = rest_.starts_with('{') || rest_.starts_with('}');
    const size_t end = std::min(rest_.find_first_of(" \t\r\n,:;()->{}"), rest_.size());
    token_ = rest_.substr(0, is_brace ? 1 : end);
    rest_.remove_prefix(token_.size());
  }

  std::string_view rest_;
  const std::string& file_;
  std::string_view token_;
  int64_t line_ = 1, next_line_ = 1;
};

class MaestroReader {
 public:
  MaestroReader(std::string_view text, const std::string& file) : tokens_(text, file) {}

  std::vector<NamedProblem> ReadNetwork() {
    while (tokens_.TakeIf("Constant")) {
      const std::string name(tokens_.Take());
      constants_[name] = Number();
    }
    tokens_.Expect("Network");
    tokens_.Take();
    tokens_.Expect("{");
    std::vector<NamedProblem> layers;
    while (!tokens_.TakeIf("}")) {
      if (layers.size() == kMaxMaestroLayers) {
        tokens_.Fail(fmt::format("there are more than {} layers", kMaxMaestroLayers));
      }
      layers.push_back(ReadLayer());
    }
    if (!tokens_.AtEnd()) tokens_.Fail("something follows after the network");
    if (layers.empty()) tokens_.Fail("the network has no layer");
    return layers;
  }

  Architecture ReadArchitecture(const std::string& name, const Technology* technology) {
    std::map<std::string, int64_t> values;
    while (!tokens_.AtEnd()) {
      const std::string key(tokens_.token());
      if (key == "NoC_NumHops") tokens_.Fail("latencies of networks are not counted");
      if (key != "num_pes" && key != "l1_size_cstr" && key != "l2_size_cstr" &&
          key != "noc_bw_cstr" && key != "offchip_bw_cstr") {
        tokens_.Fail(
            fmt::format("'{}' is not one of num_pes, l1_size_cstr, l2_size_cstr, noc_bw_cstr "
                        "and offchip_bw_cstr",
                        base::SingleLine(key)));
      }
      tokens_.Take();
      values[key] = Number();
    }
    const auto need = [&](const char* key, int64_t least) {
      const auto found = values.find(key);
      if (found == values.end()) tokens_.Fail(fmt::format("'{}' is missing", key));
      if (found->second < least) tokens_.Fail(fmt::format("{} is below {}", key, least));
      return found->second;
    };
    const auto bandwidth = [&](const char* key) {
      return values.contains(key) ? static_cast<double>(need(key, 1))
                                  : std::numeric_limits<double>::infinity();
    };
    Architecture architecture;
    architecture.name = name;
    const int64_t multipliers = need("num_pes", 1);
    if (multipliers > kMaxUnitInstances) tokens_.Fail("there are too many multipliers");
    Arithmetic& macs = architecture.arithmetic;
    macs.instances = macs.mesh_x = multipliers;
    macs.mac_energy_pj = MacEnergyOf(macs.word_bits, technology);
    StorageLevel l1{.name = "L1",
                    .words = need("l1_size_cstr", 2) / 2,
                    .instances = multipliers,
                    .mesh_x = multipliers};
    StorageLevel l2{.name = "L2", .words = need("l2_size_cstr", 2) / 2};
    l2.read_bandwidth = l2.write_bandwidth = bandwidth("noc_bw_cstr");
    StorageLevel dram{.name = "DRAM"};
    dram.read_bandwidth = dram.write_bandwidth = bandwidth("offchip_bw_cstr");
    for (StorageLevel* level : {&l1, &l2}) {
      level->access_energy_pj = AccessEnergyOf(*level, 1, false, technology);
    }
    dram.access_energy_pj = AccessEnergyOf(dram, 1, true, technology);
    architecture.levels = {l1, l2, dram};
    CheckArchitecture(architecture);
    return architecture;
  }

 private:
  /// A number, or a constant that has been given one.
  int64_t Number() {
    const std::string_view token = tokens_.token();
    int64_t number = 0;
    const auto [used, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    const bool is_number = error == std::errc() && used == token.data() + token.size();
    const auto constant = constants_.find(std::string(token));
    if (!is_number && constant == constants_.end()) {
      tokens_.Fail(fmt::format("expected a whole number, found '{}'", base::SingleLine(token)));
    }
    if (!is_number) number = constant->second;
    if (number < 0 || number > kMaxMaestroNumber) {
      tokens_.Fail(fmt::format("expected a number from 0 to {}", kMaxMaestroNumber));
    }
    tokens_.Take();
    return number;
  }

  /// `{ K: 64, C: 3 }`.
  std::map<std::string, int64_t> Sizes() {
    std::map<std::string, int64_t> sizes;
    tokens_.Expect("{");
    while (!tokens_.TakeIf("}")) {
      const std::string name(tokens_.Take());
      if (!sizes.emplace(name, Number()).second) tokens_.Fail("'" + name + "' is given twice");
    }
    return sizes;
  }

  NamedProblem ReadLayer() {
    tokens_.Expect("Layer");
    std::string name(tokens_.Take());
    // "CONV2D-1-1": that tool's reader takes the parts apart, too.
    while (!tokens_.AtEnd() && tokens_.token() != "{") name.append("-").append(tokens_.Take());
    tokens_.Expect("{");
    std::string type;
    std::map<std::string, int64_t> stride, sizes;
    while (!tokens_.TakeIf("}")) {
      if (tokens_.TakeIf("Type")) {
        type = tokens_.token();
        if (type != "CONV" && type != "DSCONV" && type != "GEMM") {
          tokens_.Fail(fmt::format("layers of type '{}' are not read; there are CONV, DSCONV, GEMM",
                                   base::SingleLine(type)));
        }
        tokens_.Take();
      } else if (tokens_.TakeIf("Stride")) {
        stride = Sizes();
      } else if (tokens_.TakeIf("Dimensions")) {
        sizes = Sizes();
      } else if (tokens_.token() == "Dataflow") {
        tokens_.Fail("dataflows are not read: a search finds the mappings; leave them out");
      } else {
        tokens_.Fail(fmt::format("'{}' is not known here; known are Type, Stride, Dimensions",
                                 base::SingleLine(tokens_.token())));
      }
    }
    NamedProblem layer{name, ProblemOf(type, sizes, stride)};
    try {
      CheckProblem(layer.problem);
    } catch (const InputError& error) {
      tokens_.Fail(error.what());
    }
    return layer;
  }

  Problem ProblemOf(const std::string& type, std::map<std::string, int64_t>& sizes,
                    const std::map<std::string, int64_t>& stride) const {
    const auto take = [&](const char* name, std::optional<int64_t> otherwise = std::nullopt) {
      const auto found = sizes.find(name);
      if (found == sizes.end() && !otherwise) {
        tokens_.Fail(fmt::format("the layer before lacks dimension {}", name));
      }
      const int64_t size = found == sizes.end() ? *otherwise : found->second;
      if (found != sizes.end()) sizes.erase(found);
      if (size < 1) tokens_.Fail(fmt::format("dimension {} of the layer before is 0", name));
      return size;
    };
    const auto done = [&](Problem problem) {
      if (!sizes.empty()) {
        tokens_.Fail(
            fmt::format("dimension {} of the layer before is not read", sizes.begin()->first));
      }
      return problem;
    };
    if (type == "GEMM") {
      const int64_t m = take("M"), n = take("N"), k = take("K");
      return done(MatmulProblem(m, n, k));
    }
    if (type.empty()) tokens_.Fail("the layer before has no Type");
    ConvolutionShape shape;
    const auto step = [&](const char* axis) {
      const auto found = stride.find(axis);
      if (found != stride.end() && found->second < 1) tokens_.Fail("a stride is 0");
      return found == stride.end() ? int64_t{1} : found->second;
    };
    shape.p_stride = step("Y");
    shape.q_stride = step("X");
    shape.r = take("R");
    shape.s = take("S");
    shape.c = take("C");
    shape.m = take("K");
    shape.n = take("N", 1);
    const int64_t y = take("Y"), x = take("X");
    if (shape.r > y || shape.s > x)
      tokens_.Fail("the kernel of the layer before exceeds its input");
    shape.p = (y - shape.r) / shape.p_stride + 1;
    shape.q = (x - shape.s) / shape.q_stride + 1;
    if (type == "CONV") return done(Conv2dProblem(shape));
    if (shape.m != 1) tokens_.Fail("K of a DSCONV has to be 1: each channel has one kernel");
    return done(DepthwiseProblem(shape));
  }

  MaestroTokens tokens_;
  std::map<std::string, int64_t> constants_;
};

}  // namespace

Architecture ParseMaestroArchitecture(const std::string& text, const std::string& file,
                                      const Technology* technology) {
  const size_t slash = file.rfind('/');
  const std::string stem = slash == std::string::npos ? file : file.substr(slash + 1);
  return MaestroReader(text, file)
      .ReadArchitecture(base::SingleLine(stem.substr(0, stem.rfind('.')), base::kMaxPathBytes),
                        technology);
}

std::vector<NamedProblem> ParseMaestroNetwork(const std::string& text, const std::string& file) {
  return MaestroReader(text, file).ReadNetwork();
}

}  // namespace bayloom::mapspace
