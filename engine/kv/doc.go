// Package kv is the contract of tables of records under keys, which the study ycsb
// measures: what an engine offers (Offer), how a table is opened (Database, Table), and
// how one worker reads and writes it (Conn, Row). Errors are sentinels: ErrNotFound,
// ErrExists, ErrConflict, ErrUnsettled.
//
// It also has what engines share: the packed form of a row, locks by key (Stripes), and
// how long to wait before another attempt (BackOff). What SQL engines share is
// engine/sqlengine; the part of the suite is engine/enginetest. An engine opens its
// database with a Database among engine.Engine.Abilities.
//
// It may import engine. Its tests need no server.
package kv
