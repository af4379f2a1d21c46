// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

namespace bayloom::tuning {

/// Fewer rounds decide nothing.
inline constexpr int kMinRounds = 3;

/// Times of a task's programs that are measured in turns, and which of them stay in: in each round
/// every program that is in is timed once. The first program is the one that is kept unless another
/// is clearly faster.
///
/// A race (Maron and Moore 1994): programs that are clearly slower than the fastest are dropped as
/// soon as the rounds say so, so that the time left goes to those that may be the best. Two are
/// told apart by the logarithm of their times' ratio in each round. Its median is compared with its
/// deviation, which is robust and no smaller than what the ratios of other tasks show.
class Turns {
 public:
  explicit Turns(int programs);

  /// `seconds`: of each program, positive; what is out says nothing.
  void AddRound(std::span<const double> seconds);
  /// Drops what is clearly slower than the fastest. `noise`: the median of Noise() over so many
  /// tasks; the fewer, the less it is trusted.
  void Drop(double noise, int tasks = 1);
  /// The typical deviation of the logarithm of two programs' ratio in one round; 0 where nothing is
  /// known of it.
  double Noise() const;

  bool IsIn(int program) const { return is_in_[program]; }
  int CountIn() const;
  /// The program of the least median time among those that are in.
  int Fastest() const;
  /// The first program if it is still in, else the fastest.
  int Chosen() const;
  int programs() const { return static_cast<int>(seconds_.size()); }
  /// Of the rounds in which the program was in.
  const std::vector<double>& SecondsOf(int program) const { return seconds_[program]; }

 private:
  /// Logarithms of a over b, by the rounds in which both were in.
  std::vector<double> LogRatios(int a, int b) const;

  std::vector<std::vector<double>> seconds_;  ///< by program, then by round
  std::vector<bool> is_in_;
};

}  // namespace bayloom::tuning
