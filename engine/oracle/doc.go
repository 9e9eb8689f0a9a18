// Package oracle keeps archives in Oracle Database, 19c or later, through the
// driver github.com/sijms/go-ora, which is written in Go.
//
// It has not run against a server: none was available. What stands for that is
// described in docs/oracle.md: golden files of every statement, and the conformance
// suite over a stand-in (standin_test.go) that has Oracle's empty texts, its
// arrays and its implicit commits, but neither its SQL nor its protocol.
//
// Tables stand in the user's own schema and are named subset/table. Designs:
//
//   - normalized: METviewer's stat_header, data_file and line_data_<type>;
//     VARCHAR(n) is VARCHAR2(500 BYTE), DATETIME is TIMESTAMP(0), counts and
//     numbers are BINARY_DOUBLE, as in records. The index of a line table holds
//     the valid time behind METviewer's stat_header_id.
//   - document: one row per header and valid time under the derived id, with
//     the header's fields and the times as columns and the entries as JSON, in
//     UTF-8, in a BLOB.
//
// An empty text is NULL in Oracle. So columns of text have no NOT NULL, flavour
// asks for an empty text by IS NULL and sorts it first, and NULL is read as the
// empty text. A text is compared as bytes: NLS_SORT and NLS_COMP of every
// session are BINARY, and the database's character set must be AL32UTF8.
//
// DDL commits implicitly. Tables are made before a commit's transaction begins,
// so that nothing breaks it in two; a crash in between leaves an empty table,
// which holds no record. A transaction begins by locking the subset's catalog
// row: loaders of one subset take turns.
//
// Rows travel as arrays of texts, which the statement converts: the driver
// sends a float64 as NUMBER, which ends at 1e126, and a time with a zone.
package oracle
