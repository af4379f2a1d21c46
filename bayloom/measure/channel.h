// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"

namespace bayloom::measure {

/// One end of a stream socket over which two processes exchange messages: a number that says what
/// it is, bytes, and perhaps a file descriptor. Trusts nothing it receives.
class Channel {
 public:
  enum class Event : uint8_t {
    kMessage,
    kClosed,   ///< the other end is gone
    kTimeout,  ///< nothing came in time
    kGarbage,  ///< what came is not a message
  };
  struct Received {
    Event event = Event::kClosed;
    uint32_t type = 0;
    std::string body;
    int descriptor = -1;  ///< the receiver's to close
  };

  Channel() = default;
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept { *this = std::move(other); }
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();
  /// Two connected ends, closed when another program is executed.
  static Result<std::pair<Channel, Channel>> MakePair();

  int descriptor() const { return descriptor_; }
  /// False if the other end is gone. A descriptor of -1 is not sent.
  bool Send(uint32_t type, std::string_view body, int descriptor = -1);
  /// Whether something can be received within `seconds`: a message's beginning or the end.
  bool WaitReadable(double seconds) const;
  /// Waits at most `seconds` (for ever if negative) for the whole message.
  Received Receive(double seconds);

 private:
  Event ReceiveBytes(char* bytes, size_t count, double deadline, int& descriptor);

  int descriptor_ = -1;
};

/// The members of a structure that a message holds, one after the other: a tuple of pointers to
/// them. Without it a value is sent as it lies in memory.
template <typename T>
inline constexpr std::nullptr_t kFields = nullptr;
template <typename T>
concept HasFields = !std::is_null_pointer_v<std::remove_const_t<decltype(kFields<T>)>>;

/// Puts values together to a message body.
class BodyWriter {
 public:
  template <typename T>
  requires(std::is_trivially_copyable_v<T> && !HasFields<T>) void Put(const T& value) {
    body_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <HasFields T>
  void Put(const T& value) {
    std::apply([&](auto... member) { (Put(value.*member), ...); }, kFields<T>);
  }
  void Put(std::string_view text) {
    Put(uint64_t{text.size()});
    body_.append(text);
  }
  void Put(const std::string& text) { Put(std::string_view(text)); }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(uint64_t{values.size()});
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }
  std::string Take() { return std::move(body_); }

 private:
  std::string body_;
};

/// Takes them apart again. What runs over the end throws std::out_of_range.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : body_(body) {}

  template <typename T>
  requires(std::is_trivially_copyable_v<T> && !HasFields<T>) void Get(T& value) {
    Bytes(sizeof(value)).copy(reinterpret_cast<char*>(&value), sizeof(value));
  }
  template <HasFields T>
  void Get(T& value) {
    std::apply([&](auto... member) { (Get(value.*member), ...); }, kFields<T>);
  }
  void Get(std::string& text) {
    uint64_t size;
    Get(size);
    text = Bytes(size);
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    uint64_t size;
    Get(size);
    values.clear();
    for (uint64_t i = 0; i < size; ++i) Get(values.emplace_back());
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    bool has_value;
    Get(has_value);
    value.reset();
    if (has_value) Get(value.emplace());
  }

 private:
  std::string_view Bytes(uint64_t count);

  std::string_view body_;
};

/// A structure with kFields as the body of a message.
template <HasFields T>
std::string EncodeBody(const T& message) {
  BodyWriter writer;
  writer.Put(message);
  return writer.Take();
}
/// Throws std::out_of_range.
template <HasFields T>
T DecodeBody(std::string_view body) {
  T message;
  BodyReader(body).Get(message);
  return message;
}

}  // namespace bayloom::measure
