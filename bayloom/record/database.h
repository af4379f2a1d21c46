// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/base/system_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bayloom::record {

/// Whether a file begins as databases do. Throws what ThrowPathError does where it cannot be read.
bool IsDatabase(const std::string& path);

class Database;
class Statement;

/// Bytes that are no text, to be bound to a parameter.
struct BlobView {
  std::string_view bytes;
};

/// The rows of a running statement, one at a time. The statement ends with it, and with that the
/// hold on the database's state that it reads from.
class Rows {
 public:
  explicit Rows(Statement& statement) : statement_(statement) {}
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  /// Moves to the next row (at first: the first one); false when there is none.
  bool Step();

  int64_t Int(int column) const;
  uint64_t Hash(int column) const { return static_cast<uint64_t>(Int(column)); }
  double Real(int column) const;  ///< NaN where the database has NULL
  std::string Text(int column) const;
  std::string Blob(int column) const;

 private:
  Statement& statement_;
};

/// A prepared statement; its parameters are given all at once, in order.
///
///     Rows rows = database.Prepared("SELECT name FROM tasks WHERE id < ?").Start(id);
///     while (rows.Step()) Use(rows.Text(0));
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  template <typename... Value>
  Rows Start(const Value&... values) {
    int place = 0;
    (Bind(++place, values), ...);
    return Rows(*this);
  }
  /// For statements without rows.
  template <typename... Value>
  void Run(const Value&... values) {
    Start(values...).Step();
  }

 private:
  friend class Rows;
  struct Deleter {
    void operator()(sqlite3_stmt* statement) const;
  };
  void Bind(int place, int64_t value);
  void Bind(int place, uint64_t value) { Bind(place, static_cast<int64_t>(value)); }
  void Bind(int place, int value) { Bind(place, int64_t{value}); }
  void Bind(int place, bool value) { Bind(place, int64_t{value}); }
  void Bind(int place, double value);                  ///< NaN becomes NULL
  void Bind(int place, std::optional<int64_t> value);  ///< nullopt becomes NULL
  void Bind(int place, std::string_view value);
  void Bind(int place, BlobView value);
  void Bind(int place, const std::string& value) { Bind(place, std::string_view(value)); }

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Deleter> statement_;
};

/// Told that a database has been locked by another process for so many seconds; false ends the
/// waiting.
using LockObserver = std::function<bool(const std::string& path, double seconds)>;

/// Lets every database of this process wait on where it would give up: `observer` is called when
/// the patience is over, and again after twice, four times ... as long. An empty one takes that
/// back. It is called by the threads that wait, within calls of the database, and must not throw.
void SetLockObserver(LockObserver observer);

/// The process was asked to stop (base/stop_flag.h) while it waited for another one's lock. What
/// was recorded before is kept.
class StoppedAtLock : public SystemError {
 public:
  using SystemError::SystemError;
};

/// An open SQLite database file. Every failure is one line that names the file: an InputError if
/// the file is none that can be used (not a database, damaged, not writable), a SystemError if the
/// machine fails (disk full, input or output error, locked by another process for too long).
///
/// Writes are durable when they return, across a kill of the process and a loss of power: the log
/// (WAL) is synchronized at every commit. The last process to close the file removes the log,
/// readers included.
///
/// Reading needs no permission and no room to write: where the log cannot be used, a file
/// without a log is read as it is, and any other through a copy of both.
class Database {
 public:
  enum class Mode : uint8_t { kReadWrite, kReadOnly };

  /// Waits up to `patience_seconds` for other processes to finish what they write, longer if there
  /// is a LockObserver, and no longer once a stop is requested (base::StopRequested).
  Database(std::string path, Mode mode, double patience_seconds = 10);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  Mode mode() const { return mode_; }
  void Execute(const std::string& sql);
  /// The statement for this text, prepared once and kept.
  Statement& Prepared(std::string_view sql);
  int64_t LastRowId() const;
  /// Rows changed by the last statement.
  int64_t Changes() const;
  /// Makes `text_of` a function of one real number for statements; empty text is NULL, and so is
  /// what it makes of NULL.
  void DefineFunction(const char* name, std::string (*text_of)(double));
  /// Goes on with a copy of what the file holds now, in temporary storage. The copy can be changed
  /// in each mode, and is gone with this object; the file stays as it is.
  void MakePrivateCopy();
  /// Refuses to change anything from now on.
  void Freeze();
  /// Throws what the last call's failure means for the person who named the file.
  [[noreturn]] void Fail(int code) const;

 private:
  friend class Statement;
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  using Handle = std::unique_ptr<sqlite3, Closer>;

  /// Opens `file` (a path or URI) in place of what is open.
  void Open(const std::string& file, int flags);
  /// The same; whether it can be read. Throws for other reasons than that it cannot be written.
  bool OpensReadable(const std::string& file, int flags);
  /// Chooses the write-ahead log, once no other process is doing so.
  void WriteAheadLog();
  void OpenForReading();
  /// Goes on with a copy of the file and its log.
  void OpenCopyWithLog();
  /// Waits a little for a lock; 0 to give up.
  static int Wait(void* database, int times);

  std::string path_;
  Mode mode_;
  double patience_seconds_;
  double waiting_since_ = 0;  ///< of the present wait
  double next_notice_ = 0;    ///< seconds after that
  Handle handle_;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> prepared_;
};

/// Changes that happen together or not at all: undone unless committed. Or what is read without
/// seeing what others change meanwhile.
class Transaction {
 public:
  enum class Kind : uint8_t { kWrite, kRead };

  explicit Transaction(Database& database, Kind kind = Kind::kWrite);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void Commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace bayloom::record
