// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace bayloom::base {

/// Why something was refused, in words a person can act on. One line, no trailing period.
struct Error {
  std::string message;
};

/// A value, or the reason why there is none.
///
/// Used where failing is an ordinary outcome (a schedule primitive that does not apply, a
/// candidate that cannot be built). Bad input from a person is an `InputError` instead.
///
///     Result<int> r = Parse(text);
///     if (!r) return r.error();
///     Use(*r);
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return std::get<T>(state_); }
  const T& operator*() const& { return std::get<T>(state_); }
  T&& operator*() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// The outcome of an action without a value.
using Status = Result<std::monostate>;
inline Status Ok() { return Status(std::monostate{}); }

/// Input from a person (a model, a file, an option) that cannot be used. The message is one
/// line: what is wrong, where, and what would be right. The command line prints it and exits
/// with code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bayloom::base

namespace bayloom {
using base::Error;
using base::InputError;
using base::Ok;
using base::Result;
using base::Status;
}  // namespace bayloom
