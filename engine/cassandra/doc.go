// Package cassandra keeps archives in Apache Cassandra, or ScyllaDB, on one
// node or many: cassandra://host:port/keyspace.
//
// # Tables
//
// Each design has one table per line type, made when its first record comes:
//
//	doc_<type>       partition: id (design.AppendKey)       order: fcst_lead, entry, commit_number
//	wide_<type>      partition: series, year                order: fcst_valid_beg, fcst_lead, entry, commit_number
//
// A document is a partition, its entries are the rows, by lead: a question
// becomes one prepared query per derived id (keys-native), each sent to a node
// that holds the partition, many at once; or IN lists of ids, of which a
// coordinator asks for each (keys). The wide table serves ranges and lists of
// valid times of a series (epoch-range, epoch-list); a year bounds its
// partitions: at 1,460 times and 65 leads they have 95,000 rows. entry is empty
// but for records of which a document holds several at one lead: stations,
// thresholds, windows. Values stand in columns v_<name>; a missing one is not
// stored. Batches hold rows of one partition only, where they are one mutation.
//
// # All of a commit, or nothing
//
// A commit of many partitions has no transaction, and a logged batch takes 50
// KiB. So every row, mark and catalog bears the number of the commit that
// brought it, and the row of its subset in heads says which numbers count:
//
//  1. a commit gets the next number, by a conditional update (a lightweight
//     transaction), and notes which version of the subset it starts from;
//  2. it writes its rows, beside those that they replace, the marks and the catalog;
//  3. by one conditional update the version becomes its number, if it is still
//     the one that it started from; the numbers between, of commits that died or
//     were slower, go into the set bad. Where another commit was faster, all
//     begins anew with another number.
//
// A reader takes the version first and then, of each record, the latest row
// whose number counts: it sees whole commits only, and the same ones to its
// end, whatever is committed next to it. There are no locks; a client or a node
// may die at any moment. The price: rows of a commit that died, and values that
// were replaced, stay in the tables, unseen.
//
// # Consistency and durability
//
// Reads and writes are at QUORUM unless ?consistency= says otherwise: what a
// commit acknowledged is then found with a minority of the copies gone. With
// one or two a reader may miss rows of a commit that counts: such an archive
// may answer wrongly while a node is behind, and it is offered to be measured.
// A commit is on disk when its call returns where commitlog_sync is batch or
// group (profile tuned); as packaged the log is synced every 10 s (profile
// default), which outlives the process, not the machine. About says which, and
// a loader logs a warning.
//
// # Tables that several clients make
//
// A statement that changes the schema goes to the node with the least id of
// those that are up, whichever client sends it: one node makes one change after
// another, where two nodes would make one table twice, with two ids, which
// Cassandra before 6 does not repair. Then every node that is up is asked for the
// table until it serves it: system_schema.tables lists a table before the server
// knows it.
//
// # Records under keys
//
// Cassandra keeps partitions in the order of their keys' hashes, so that a table
// whose key is its partition cannot be scanned in the order of keys. YCSB's
// binding scans all the same, by token(), and gets records in no order that its
// workload knows. There are three layouts:
//
//	columns     y_id text PRIMARY KEY, a column per field     the table of YCSB's binding; no scans
//	clustered   PRIMARY KEY (y_prefix, y_id)                  ordered scans, each of the partitions of its range
//	hash        PRIMARY KEY (y_prefix, y_id)                  ordered scans, each of all partitions
//
// In clustered the first 7 bytes of a key (?prefix=), "user" and three digits of
// YCSB's keys, are its partition: prefixes have the order of their keys, so that
// a scan reads one partition from its key on and then, if that was not enough,
// those behind it. Which there are says a second table, <name>_parts, into which
// a prefix is written before its first record: a few thousand rows, asked only
// where a scan passes the end of a partition. In hash there are 24 partitions, by
// the hash of the key: more even, and without a list; but every scan asks all of
// them, and they are few enough for the conditional writes of many clients to meet
// in. It is there to be compared: docs/ycsb.md, "Does a scan scale". The prefix must fit the keys: with zeropadding it is longer by the zeros.
//
// The contract of kv.Conn wants an insert to fail where the key is taken and
// an update to fail where there is no record. CQL writes blindly, and tells
// either only in a conditional statement (IF NOT EXISTS, IF EXISTS), a
// lightweight transaction with the rounds of Paxos. So it is by default;
// ?conditional=false looks first and writes then, which is quicker and right as
// long as no other process writes the same key at the same moment. YCSB's
// binding does neither.
//
// # Size
//
// CQL has no word to have memory written. Size is what the node that answers
// says its disk holds, or, where that is less, the bytes that commits wrote.
package cassandra
