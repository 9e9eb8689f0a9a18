// Package kv is the contract of tables of records under keys, which the study ycsb
// measures: what an engine offers (Offer), how a caller opens a table (Database, Table), and
// how one worker reads and writes it (Conn, Row). Errors are sentinels: ErrNotFound,
// ErrExists, ErrConflict, ErrUnsettled.
//
// Engines share its packed form of a row, its locks by key (Stripes), its pause before
// another attempt (BackOff), and its cheap exchange of a request for a reply over a
// connection (Socket, Watch). SQL engines share engine/sqlengine; the tests of this contract
// are in engine/enginetest. To offer tables, an engine puts a Database into the
// engine.Engine.Abilities of the database that it opens.
//
// This package may import engine. Its tests need no server.
package kv
