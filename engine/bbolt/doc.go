// Package bbolt is an engine with one ability: records under keys, in a file of
// bbolt, the B+ tree with copy on write that etcd keeps its data in. It is the
// smallest engine that stores something, and an example of the contract (see
// docs/adding-an-engine.md).
//
// A table is a bucket; the bucket "tables" has each table's number of fields. A
// record is one pair: its key and kv.Row.AppendPacked' bytes. A write is a transaction
// of its own. bbolt has one writer at a time and flushes the file before a commit
// returns, so that an acknowledged write survives a crash of the machine; readers see
// the last commit and never wait.
package bbolt
