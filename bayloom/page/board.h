// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>

namespace bayloom::page {

/// Serves the page of a database that another process may be writing to, with what is added as it
/// comes in:
///
///     /            the page
///     /events      server-sent events: what is new since the query's cursor=..., or the header
///                  Last-Event-ID; the event "reload" where that cannot be told
///     /data.json   the document of PageReader
///
/// Listens on 127.0.0.1 only, and answers only requests that were sent to that address by a name of
/// this machine (Host), so that no page of another site can read it. The database is not changed.
class Board {
 public:
  /// Reads the database, or waits for it if there is none yet, and begins to listen. Port 0: one
  /// that is free. Throws InputError where the database cannot be read or the port is taken.
  Board(const std::string& database, int port);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  int port() const;
  /// There is no database yet.
  bool waits() const;
  /// "http://127.0.0.1:8642/".
  std::string url() const;
  /// Answers until `stop` is true, which is asked 20 times a second. Throws where the database
  /// cannot be read any more.
  void Run(const std::function<bool()>& stop);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace bayloom::page
