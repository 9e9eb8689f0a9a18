// Package mariadb keeps archives in MariaDB.
//
//	mariadb://USER@HOST:3306/prefix?engine=MyISAM&apply_indexes=false
//	mariadb://user@host:port,host:port,host:port/prefix
//
// Every subset has a database of its own, named prefix and subset. METviewer
// lists databases whose names begin with mv_. A database that holds tables and
// none of Barograph's, such as one that METdbLoad made, is asked as it is, and
// is not loaded into before it was adopted (docs/adopt.md).
//
// # normalized: METviewer's tables
//
// The database holds METviewer's tables with METviewer's columns, types, names
// of indexes, storage engine and character set, all 65 of them, so that METviewer
// can be pointed at it, and METdbLoad can load into it. Those of MODE, MTD and
// tropical cyclones have headers of their own (mode_header, mtd_header,
// tcst_header): such records stand in tables of Barograph's, barograph_line_data_…,
// from which it asks, and METviewer's tables are written beside them in the same
// commit, one header for the objects and the contingency table of a file, pairs
// with the numbers of their objects. Objects that METdbLoad has loaded are
// METviewer's alone. engine=InnoDB changes the storage
// engine alone; apply_indexes=true adds the indexes that METdbLoad's option of
// that name adds, to every line table.
//
// What these columns cannot hold must not be lost: a count that is missing,
// has a fraction or more than 32 bits, a text that is too long or has letters
// beyond ASCII, cov_thresh and alpha where METviewer has no such column, the
// columns that MET has added since. METviewer's column then has the nearest
// value that it can hold, which is counted (archive.CommitResult.Cut) where it is a
// text, and the value itself stands in an INVISIBLE column
// barograph_<column> of the same table, which is made when the first such value
// comes and is NULL in all other rows. SELECT * and METviewer do not see it. A
// question names it only where it exists: on archives without such values the
// text of metviewer-sql is METviewer's own. A query must be phrased anew after
// a load that brought the first such value, as it must be after any load that
// changes the catalog. Repeating columns stand in METviewer's child tables and,
// as they are, in barograph_repeats. Types that METviewer has no table for
// (GENMPR), or one of another form, have one of this form, barograph_line_data_….
//
// A header is known by METdbLoad's 14 columns and the version: a record that
// differs in its version is another record.
//
// latin1_swedish_ci takes G2 for g2, and blanks at the end for nothing. So
// metviewer-sql says BINARY, as METviewer does, and sql says both: the plain
// condition, which an index serves, and BINARY, which decides. Texts are
// sorted by BINARY.
//
// # All of a commit, or nothing
//
// Documents, wide rows and normalized tables with engine=InnoDB are written in
// one transaction. MyISAM has none. There a commit
//
//  1. notes in barograph_pending (InnoDB) the number of the first row that it
//     will add to each table: rows are numbered, by line_data_id or by the
//     invisible column barograph_row;
//  2. adds its rows;
//  3. in one transaction of InnoDB deletes that note, writes the catalog and the
//     marks, and notes in barograph_gone the rows that were replaced: this is
//     the moment from which the commit counts;
//  4. takes the replaced rows away and deletes the second note.
//
// Whoever comes next, under the lock that every commit holds, takes away what
// stands after the first note, or what the second one names. So a killed
// client, or a killed server, leaves whole commits only. While rows are written
// LOCK TABLES keeps other programs away, which find all of a commit or nothing;
// what METdbLoad loads between a commit that died and its recovery stays. A MyISAM table survives its server, not the machine's power,
// as packaged; engine=InnoDB survives both.
//
// A commit holds the lock GET_LOCK(barograph <digest of the database>), and
// takes its numbers from the catalog's row: loaders of several processes can
// load into one subset at once.
//
// # A Galera cluster
//
// A URL may name all nodes of a cluster. What is asked goes to each in turn,
// with wsrep_sync_wait = 1: a node answers when it has all that any node had
// committed before. What is loaded goes to the first node that serves; when it
// dies the load ends with an error, and the next load goes to another one.
//
// A cluster copies the rows of InnoDB alone and tells them apart by their key.
// So engine=InnoDB is chosen there, About says so, and engine=MyISAM is an
// error. In InnoDB the invisible column barograph_row is the primary key of
// METviewer's tables that have none.
//
// GET_LOCK holds on one node only. A commit therefore also writes the version
// of the catalog that it has read, plus one, where it still stands: of two
// loaders at two nodes one finds another version, a number that is taken, or
// that its transaction has been overtaken. It reads anew and commits again.
//
// # A star over several disks
//
// The database prefix and star holds the tables of the analytical workload;
// partitions of store_sales have data directories on the paths of a placement.
// One thread answers a question: docs/scan.md.
//
// # MySQL 8, Aurora
//
// A server whose version does not name MariaDB is taken for MySQL 8.0.23 or later:
// its collations are chosen, MariaDB's settings of a session and its IF NOT EXISTS
// of columns and indexes are left out (mysqls.go). No such server was run.
//
// # Loading
//
// Rows are streamed by LOAD DATA LOCAL INFILE from memory, made as the server
// takes them; no file is written. LOCAL turns errors of values into warnings;
// here a warning ends the load. The server must be started with local_infile.
// What the server can derive is not sent, see distinctValues.
//
// # Settings of a session
//
// sql_mode is strict and has NO_BACKSLASH_ESCAPES, as literals are quoted as in
// standard SQL. in_predicate_conversion_threshold and optimizer_max_sel_args
// keep a long list of keys or times a range of an index. Where the server has a
// query cache, query_cache_type is DEMAND: only cached-sql says SQL_CACHE, and
// no other flavour's answer comes from the cache. Where it has none, cached-sql
// cannot be phrased; About says why.
//
// protocol=prepared prepares each text once a connection; its rows come back in
// binary. server_time=true has the server profile each question and asks for
// its time, over the same connection: an answer then costs a round trip more.
package mariadb
