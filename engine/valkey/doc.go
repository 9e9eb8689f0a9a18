// Package valkey keeps archives in Valkey or Redis, on one server or on a
// cluster: valkey://host:port/namespace.
//
// Its design is keyvalue: the id of design.AppendKey leads to a string, the
// payload of design.AppendPayload. A question becomes a batch get of derived
// ids (keys-native): MGET on one server, pipelined GETs to every node at once
// in a cluster, where MGET across slots is refused. A few batches are under way
// while the one before is decoded, in the order of the ids; ids that do not
// exist are normal. Ranges of time are not offered: a hash table has no order,
// and a sorted set per series would be a second copy of every id.
//
// # Keys and slots
//
// With a namespace every key begins with it and "::". Braces in an id are
// written %7B and %7D, so that the whole id is hashed: the documents of one
// subset, and of one series, are spread over all nodes, and a question is
// answered by all of them. A hash tag over the subset would allow MGET and
// MULTI, but put the whole subset on one node; a tag over the series would do
// the same to the questions that ask few series at many times, which most do.
// Tags are used for what must change together, and is small:
//
//	DD::…::1546300800             a payload
//	BG::head::{s:subset}          hash: version, catalog, applying, token
//	BG::marks::{s:subset}         hash: digest of a file → its mark
//	BG::tries::{s:subset}         hash: token → the ids that a commit under way writes
//	BG::stage::token::{DD::…}     a payload of a commit under way, in the slot of its id
//	BG::subsets                   set of names
//
// # All of a commit, or nothing
//
// Slots of several nodes have no transaction. A commit
//
//  1. reads version and catalog of the subset, and the payloads that it will change;
//  2. notes its ids under a random token in tries, and writes the new payloads
//     beside the old ones, as stage keys;
//  3. in one script, on the slot of the subset, goes from the version that it
//     read to the next one, with the catalog, the marks and applying = token:
//     from this moment the commit counts. Where the version is another one, a
//     loader elsewhere was faster: the stage is dropped and all begins anew;
//  4. renames each stage key to its id, and clears applying.
//
// Step 4 can be done by anybody, any number of times, as a stage key is renamed
// once: whoever finds applying set, client or loader, completes it first. There
// are no locks and no leases. A commit that died before step 3 has left stage
// keys behind, which the next commit takes away. A client that reads while
// step 4 runs elsewhere can see part of that commit; never part of one that
// does not count, and never less than what counted when it began.
//
// # Records under keys
//
// A table of records under keys is a hash for each record, with a field of the
// hash for each field, and sorted sets of all keys, all of one score, so that
// the server holds them in the bytewise order in which scans are answered
// (ZRANGEBYLEX). YCSB's own binding scores keys by their hashes, and its scans
// come in the order of those.
//
//	{table.bucket.n}key               hash: field → value
//	BG::index::{table.bucket.n}       sorted set of the bucket's keys
//	BG::table::{table}                fields, and the number of buckets
//
// A record and its key in the sorted set lie in one slot, by their hash tag, and
// are written by one script, which is atomic: no scan misses a record that was
// acknowledged, and none finds a key whose record never came. On one server a
// table has one bucket, and a batch is one script too. In a cluster it has 24,
// by the hash of the key, their tags chosen so that they lie at equal distances
// over the slots; a scan takes a page of keys from each at once, its share and
// some more, and merges them; there is no batch, as slots of several nodes have
// no transaction. MULTI would do what the scripts do but for one thing: to
// insert only where nothing is, and to update only what is there, it would have
// to WATCH, and to begin anew. The records of a scan are then read through one
// pipeline to each node.
//
// # Persistence
//
// A commit is durable when the server says so. With appendonly yes and
// appendfsync always (profile tuned) every reply follows an fsync. With
// everysec the last second is lost with the machine; as packaged (profile
// default) there are snapshots only, and a server that dies loses all since the
// last one, marks and records alike. About tells which it is, under
// "durability", and a loader logs a warning where it is less than always. A
// server that evicts keys when memory is short is refused by loaders.
package valkey
