// Package cassandra stores archives in Apache Cassandra, or ScyllaDB, on one node or many:
// cassandra://host:port/keyspace.
//
// # Tables
//
// Each design has one table per line type, created with its first record:
//
//	doc_<type>       partition: id (design.AppendKey)       order: fcst_lead, entry, commit_number
//	wide_<type>      partition: series, year                order: fcst_valid_beg, fcst_lead, entry, commit_number
//
// A document is a partition, and its entries are the rows, by lead. A question becomes one prepared query
// per derived id (keys-native), sent to a node with the partition, many at once; or IN lists of ids, whose
// coordinator queries each id (keys). The wide table serves ranges and lists of valid times of a series
// (epoch-range, epoch-list). The year limits its partitions: with 1,460 times and 65 leads they have 95,000
// rows. entry is empty, except for records of which a document has several at one lead: stations,
// thresholds, windows. Values are in columns v_<name>; a missing value is not stored. A batch contains only
// rows of one partition, and is then one mutation.
//
// # Atomic commits
//
// There is no transaction over many partitions, and a logged batch is limited to 50 KiB. Therefore every
// row, mark and catalog contains the number of its commit, and the subset's row in the table heads determines which
// numbers count:
//
//  1. a commit gets the next number with a conditional update (a lightweight transaction), and
//     remembers the version of the subset from which it starts;
//  2. it writes its rows, without deleting those that they replace, the marks and the catalog;
//  3. one conditional update sets the version to its number, if the version has not changed since the
//     start. The numbers in between, of crashed or slower commits, go into the set bad. If another
//     commit was first, the commit starts again with another number.
//
// A reader first reads the version and then, of each record, the latest row whose number counts. It
// therefore sees only complete commits, and the same ones until its end, independent of later commits.
// There are no locks; a client or a node may crash at any moment. The price: rows of crashed commits and
// replaced values stay in the tables, invisible.
//
// # Consistency and durability
//
// Reads and writes are at QUORUM unless ?consistency= changes it: an acknowledged commit is then readable
// after the loss of a minority of the copies. With one or two, a reader may miss rows of a commit that
// counts. Such an archive may return wrong results while a node is behind; it is offered only for
// measurements. A commit is on disk when its call returns if commitlog_sync is batch or group (profile
// tuned). As packaged (profile default) the log is synced every 10 s: a commit survives a crash of the
// process, but not of the machine. About reports the setting, and a loader logs a warning.
//
// # Concurrent creation of tables
//
// Every client sends statements that change the schema to the running node with the least id. One node
// makes one change after another, whereas two nodes could create one table twice with two ids, which
// Cassandra before version 6 does not repair. Then the client queries the table on every running node until
// the node serves it: system_schema.tables lists a table before the server knows it.
//
// # Records under keys
//
// Cassandra stores partitions in the order of their keys' hashes. A table whose key is its partition cannot
// be scanned in the order of keys. YCSB's binding scans nevertheless, by token(), and gets records in an
// order that its workload does not know. There are three layouts:
//
//	columns     y_id text PRIMARY KEY, a column per field     the table of YCSB's binding; no scans
//	clustered   PRIMARY KEY (y_prefix, y_id)                  ordered scans, each of the partitions of its range
//	hash        PRIMARY KEY (y_prefix, y_id)                  ordered scans, each of all partitions
//
// In clustered the first 7 bytes of a key (?prefix=), "user" and three digits of YCSB's keys, are its
// partition. Prefixes have the order of their keys: a scan reads one partition from its key on and then, if
// it needs more records, the next ones. A second table, <name>_parts, lists the partitions; a prefix is
// written to it before its first record. It has a few thousand rows, and a scan reads it only at the end of
// a partition. In hash there are 24 partitions, by the hash of the key. They are more even and need no
// list, but every scan queries all of them, and conditional writes of many clients often meet in one of so
// few. The layout exists for comparison: docs/results/ycsb.md, "Does a scan scale". The prefix must suit the keys:
// with zeropadding it is longer by the zeros.
//
// kv.Conn demands that an insert fails for an existing key and an update for a missing one. CQL writes
// without reading and reports either only in a conditional statement (IF NOT EXISTS, IF EXISTS), a
// lightweight transaction with the rounds of Paxos. That is the default. ?conditional=false reads first and
// then writes, which is faster, and correct as long as no other process writes the same key at the same
// time. YCSB's binding does neither.
//
// # Size
//
// CQL has no statement to flush memory. Size is the size on disk that the answering node reports or, if
// that is less, the bytes that commits wrote.
package cassandra
