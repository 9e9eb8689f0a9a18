// Package mariadb stores archives in MariaDB.
//
//	mariadb://USER@HOST:3306/prefix?engine=MyISAM&apply_indexes=false
//	mariadb://user@host:port,host:port,host:port/prefix
//
// Every subset has its own database, whose name is prefix and subset. METviewer lists databases
// whose names begin with mv_. Barograph queries a database of another program, such as one that
// METdbLoad created, without changing it. It does not load into such a database before its
// adoption (docs/how-to/adopt.md).
//
// # normalized: METviewer's tables
//
// The database contains all 65 of METviewer's tables, with METviewer's columns, types, index
// names, storage engine and character set. METviewer can use the database, and METdbLoad can load
// into it.
//
// METviewer's tables of MODE, MTD and tropical cyclones have other headers (mode_header, mtd_header, tcst_header).
// Barograph stores such records in its own tables, barograph_line_data_…, and their headers in barograph_stat_header,
// and queries only those. Archives that were created before that table existed have these headers in stat_header until
// adopt --repair. In the same commit it also writes METviewer's tables: one header for the objects and the contingency
// table of a file, and pairs with the numbers of their objects. Objects that METdbLoad has loaded are only in
// METviewer's tables.
//
// engine=InnoDB changes only the storage engine of a new subset's tables; a load into an existing subset uses the
// storage engine of its tables. apply_indexes=true adds, to every line table, the indexes of METdbLoad's option of
// that name.
//
// These columns cannot store every value: a missing count, a count with a fraction or more than
// 32 bits, a text that is too long or has letters outside ASCII, cov_thresh and alpha where
// METviewer has no such column, and columns that later versions of MET have added. METviewer's
// column then contains the nearest value that it can store. The exact value is in an INVISIBLE
// column barograph_<column> of the same table. Barograph adds this column when the first such
// value arrives; it is NULL in all other rows. Shortened texts are counted
// (archive.CommitResult.ShortTexts).
//
// SELECT * and METviewer do not see invisible columns. A query names them only if they exist: for
// archives without such values the text of metviewer-sql is METviewer's own. The caller must
// phrase a query again after a load that added such a column, as after any load that changes the
// catalog. Repeating columns are in METviewer's child tables and, unchanged, in
// barograph_repeats. Types for which METviewer has no table (GENMPR), or one of another form,
// have a table of this form, barograph_line_data_….
//
// METdbLoad's 14 columns and the version identify a header: records with different versions are
// different records.
//
// latin1_swedish_ci treats G2 and g2 as equal and ignores trailing blanks. Therefore metviewer-sql
// uses BINARY, as METviewer does. sql uses two conditions: the plain one, which an index serves,
// and BINARY, which decides. Both sort texts by BINARY.
//
// # Atomic commits
//
// Documents, wide rows and normalized tables with engine=InnoDB are written in one transaction.
// MyISAM has no transactions. There a commit
//
//  1. records in barograph_pending (InnoDB) the number of the first row that it will add to
//     each table; rows are numbered by line_data_id or by the invisible column
//     barograph_row;
//  2. adds its rows, and unlocks the tables: only then does the server write the lengths and
//     the keys of MyISAM tables, which it loses if it is killed;
//  3. locks the tables again; in one InnoDB transaction deletes that record, writes the catalog and the marks, and
//     records the replaced rows in barograph_gone. From this moment the commit
//     counts;
//  4. removes the replaced rows, unlocks the tables, and deletes the record in barograph_gone.
//
// The next client that locks the subset, as every commit does, removes the rows of an incomplete
// commit: those from the recorded numbers on, or the replaced rows. A killed client or server
// therefore leaves only complete commits. While a commit writes rows, LOCK TABLES excludes other
// programs, which see all rows of the commit or none. Rows that METdbLoad loads between a crash
// and its recovery stay. As packaged, a MyISAM table survives a crash of its server, but not a
// power failure; engine=InnoDB survives both.
//
// A commit locks GET_LOCK(barograph <digest of the database>) and takes its row numbers from the
// catalog's row. Loaders of several processes can therefore load into one subset at once.
//
// # A Galera cluster
//
// A URL may name all nodes of a cluster. Queries go to each node in turn, with
// wsrep_sync_wait = 1: a node answers when it has everything that any node had committed before.
// Loads go to the first node that serves. If that node fails, the load returns an error, and the
// next load uses another node.
//
// A cluster replicates only InnoDB's rows and identifies them by their primary key. There
// engine=InnoDB is the default, About reports it, and engine=MyISAM is an error. In InnoDB the
// invisible column barograph_row is the primary key of those of METviewer's tables that have none.
//
// GET_LOCK works on one node only. A commit therefore also increments the version of the catalog
// that it has read, if the version is unchanged. Of two loaders at two nodes one finds a changed
// version, a number that is in use, or a rejected transaction. It reads the catalog again and
// commits again.
//
// # A star over several disks
//
// The database <prefix>star contains the tables of the study scan. The partitions of store_sales
// have data directories on the paths of a placement. One thread answers a query: docs/reference/scan.md.
//
// # MySQL 8, Aurora
//
// Barograph treats a server whose version does not contain MariaDB as MySQL 8.0.23 or later. It
// then uses MySQL's collations and omits MariaDB's session settings and its IF NOT EXISTS for
// columns and indexes (mysqls.go). No test has run against such a server.
//
// # Loading
//
// LOAD DATA LOCAL INFILE streams rows from memory; no file is written. LOCAL converts errors of
// values to warnings, and Barograph treats each warning as an error. The server needs the setting
// local_infile. Barograph does not send values that the server can compute; see constantExpr.
//
// # Settings of a session
//
// sql_mode is strict and has NO_BACKSLASH_ESCAPES, because literals are quoted as in standard SQL. Only sessions that
// run a user's script (CREATE TABLE for records under keys) treat backslashes as escapes, like the server's client
// program. autocommit, the isolation level and max_error_count do not depend on the server's global settings.
// in_predicate_conversion_threshold and optimizer_max_sel_args let a long list of keys or times remain a range of an
// index. If the server has a query cache, query_cache_type is DEMAND: only cached-sql requests SQL_CACHE, and no
// other flavour gets an answer from the cache. If it has none, cached-sql cannot be phrased; About gives the reason.
//
// protocol=prepared prepares each text once per connection and receives rows in binary format.
// server_time=true makes the server profile each query and reads its time over the same
// connection, which costs one more round trip per query.
package mariadb
