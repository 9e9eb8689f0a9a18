// Package mongodb keeps verification archives in a server that speaks
// MongoDB's protocol: mongodb://host/database.
//
// Its design is document: one collection for each line type and subset, one
// BSON document for each header and valid time under _id = the derived id, the
// leads as an array of sub-documents. A question becomes one find with a filter
// (by ids, or by header fields and times), or an aggregation that unwinds the
// array where it asks for few leads of many. The client decodes raw BSON and
// restores the order.
//
// A commit is made of single-document writes, see package docengine; it needs
// no transactions, and works on a replica set, on shards and on one server
// alike. Somebody who asks while a commit is under way may see some of its
// documents before the others; after a crash all of them are there or none.
//
// Records under keys are documents too: {_id: key, field0: value, …} in a
// collection of the table's name, values binary, as YCSB's binding writes them.
// A read of chosen fields is a find with a projection, an update a $set by _id, a
// scan a find from an _id on, in the order of _id, which is that of the bytes of
// texts. Batches are not offered: insertMany is not all or none but in a
// transaction, which one server alone and FerretDB do not have.
//
// The server is asked who it is. FerretDB, which the tests run against, speaks
// the protocol but scans where MongoDB searches: its times are shown and
// ranked nowhere.
package mongodb
