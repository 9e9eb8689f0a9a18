// Package valkey stores archives in Valkey or Redis, on one server or on a cluster: valkey://host:port/namespace.
//
// Its design is keyvalue: the key is the id of design.AppendKey, and the value is the payload of
// design.AppendPayload. A query is a batch get of derived ids (keys-native): MGET on one server, pipelined
// GETs to every node at once in a cluster, which refuses MGET across slots. A few batches are in flight
// while the previous one is decoded, in the order of the ids; missing ids are ignored. Ranges of time are
// not offered: a hash table has no order, and a sorted set per series would be a second copy of every id.
//
// # Keys and slots
//
// With a namespace, every key begins with it and "::". Braces in an id are written %7B and %7D, and
// therefore the complete id is hashed: the documents of one subset, and of one series, are distributed over
// all nodes, and all nodes work on a query. A hash tag over the subset would allow MGET and MULTI, but put
// the complete subset on one node. A tag over the series would do the same to queries of few series and
// many times, which are the most frequent. Tags are used for small data that must change together:
//
//	DD::…::1546300800             a payload
//	BG::head::{s:subset}          hash: version, catalog, applying, token
//	BG::marks::{s:subset}         hash: digest of a file → its mark
//	BG::tries::{s:subset}         hash: token → the ids that a commit in flight writes or removes
//	BG::stage::token::{DD::…}     a payload of a commit in flight, in the slot of its id; empty = it is removed
//	BG::subsets                   set of names
//
// # Atomic commits
//
// There is no transaction over slots of several nodes. A commit
//
//  1. reads version and catalog of the subset, and the payloads that it will change;
//  2. records its ids under a random token in tries, and writes the new payloads as stage keys
//     without changing the old ones. Payloads that it removes also have stage keys;
//  3. in one script, on the slot of the subset, replaces the version that it read by the next one, with
//     the catalog, the marks and applying = token: from this moment the commit is visible. If the version
//     has changed, another loader was first: the commit drops its stage keys and starts again;
//  4. renames each stage key to its id, or removes both, and clears applying.
//
// Any client can do step 4, any number of times and at any later time, because a stage key is renamed or
// removed only once. A client or loader that finds applying set completes the commit first. There are no locks
// and no leases. A commit that crashed before step 3 has left stage keys, which the next commit removes. A client
// that gives up a commit first marks it in tries as abandoned: if its script arrives later, the script is refused.
//
// Readers check applying once, before they read. If a commit becomes visible after this check, a reader can see some of
// its payloads and miss others. It never sees a payload of a commit that is not visible, and it always sees everything
// that was visible when it started to read, or what replaced it.
//
// # Records under keys
//
// A table of records under keys has a hash for each record, with a field of the hash for each field, and
// sorted sets of all keys. All keys have the same score, and the server therefore sorts them in the
// bytewise order that scans need (ZRANGEBYLEX). YCSB's own binding scores keys by their hashes, and its
// scans return that order.
//
//	{table.bucket.n}key               hash: field → value
//	BG::index::{table.bucket.n}       sorted set of the bucket's keys
//	BG::table::{table}                fields, and the number of buckets
//
// A table with the layout clustered has partitions instead of buckets, one for each prefix of a key (?prefix=):
//
//	{table.prefix}key                 hash: field → value
//	BG::index::{table.prefix}         sorted set of the partition's keys
//	BG::parts::{table}                sorted set of the prefixes
//
// A hash tag puts a record and its key in the sorted set into one slot. One script writes both atomically:
// no scan misses an acknowledged record, and none finds a key without a record. On one server a table has
// one bucket, and a batch is also one script. In a cluster it has 24 buckets, by the hash of the key; their
// tags distribute them evenly over the slots. A scan takes a page of keys from each bucket at once, its
// share and some more, merges them, and reads the records through one pipeline to each node.
//
// A cluster offers no batches, because there is no transaction over slots of several nodes. MULTI could replace the
// scripts, but to insert only a missing record, or update only an existing one, it would need WATCH and retries.
//
// # Persistence
//
// The server determines the durability of a commit. With appendonly yes and appendfsync always (profile
// tuned) every reply follows an fsync. With everysec a crash of the machine loses the last second. As
// packaged (profile default) there are only snapshots: a crash of the server loses all commits since the
// last one, marks and records alike. About reports the durability, and a loader logs a warning if it is
// less than always. Loaders refuse a server that evicts keys when memory is short.
package valkey
