// Package oracle stores archives in Oracle Database, 19c or later, with the driver github.com/sijms/go-ora,
// which is written in Go.
//
// It has not run against a server, because none was available. docs/decisions/0013-how-engines-store.md describes
// the tests instead: golden files of every statement, and the conformance suite over a stand-in (standin_test.go).
// The stand-in has Oracle's empty texts and its arrays, and refuses DDL in a transaction. It has neither Oracle's SQL
// nor its protocol.
//
// Tables are in the user's own schema and are named subset/table. Designs:
//   - normalized: METviewer's stat_header, data_file and line_data_<type>; VARCHAR(n) is VARCHAR2(500 BYTE),
//     DATETIME is TIMESTAMP(0), counts and numbers are BINARY_DOUBLE, as in records. The index of a line
//     table contains the valid time after METviewer's stat_header_id.
//   - document: one row per header and valid time, keyed by the derived id, with the header's fields and the
//     times as columns and the entries as JSON, in UTF-8, in a BLOB.
//
// In Oracle an empty text is NULL. Therefore columns of text have no NOT NULL, package flavour selects an
// empty text with IS NULL and sorts it first, and NULL is read as the empty text. Texts compare bytewise:
// NLS_SORT and NLS_COMP of every session are BINARY, and the database's character set must be AL32UTF8.
//
// DDL commits implicitly. Tables are created before a commit's transaction starts, because DDL within it
// would split the transaction. A crash in between leaves an empty table. A transaction first locks the
// subset's catalog row: loaders of one subset take turns.
//
// Rows are sent as arrays of texts, which the statement converts, because the driver sends a float64 as
// NUMBER, which is limited to 1e126, and a time with a zone.
package oracle
