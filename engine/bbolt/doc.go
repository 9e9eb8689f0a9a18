// Package bbolt is an engine with one ability: records under keys, in a file of bbolt, the copy-on-write B+ tree of
// etcd. It is the smallest engine that stores anything, and an example of the contract (see
// docs/how-to/add-engine.md).
//
// A table is a bucket; the bucket "tables" contains each table's number of fields. A record is one pair: its key and
// the bytes of kv.Row.AppendPacked. Each write is a separate transaction. bbolt has one writer at a time and flushes
// the file before a commit returns; an acknowledged write therefore survives a crash of the machine. Readers see the
// last commit and never wait.
package bbolt
