// Package mongodb stores verification archives in a server with MongoDB's protocol: mongodb://host/database.
//
// Its design is document: one collection for each line type and subset, one BSON document for each header
// and valid time with _id = the derived id, and the leads as an array of sub-documents. A query is one find
// with a filter (by ids, or by header fields and times), or an aggregation that unwinds the array if it
// selects few of many leads. The client decodes raw BSON and restores the order.
//
// A commit consists of writes of single documents, see package docengine. It needs no transactions, and works
// on a replica set, on shards and on a single server. A client that reads during a commit may see some of its
// documents before the others. After a crash all of them exist or none. Loaders read the primary server, also if
// the URL lets queries read others.
//
// Records under keys are also documents: {_id: key, field0: value, …} in a collection of the table's name,
// with binary values, as YCSB's binding writes them. A read of chosen fields is a find with a projection,
// an update is a $set by _id, and a scan is a find from an _id on, in the order of _id, which is the
// bytewise order of texts. Batches are not offered: insertMany is atomic only in a transaction, which a
// standalone server and FerretDB do not have.
//
// The package detects which server it is. The tests run FerretDB, which has MongoDB's protocol but reads all
// documents where MongoDB searches an index. Reports show its times and do not rank them.
package mongodb
