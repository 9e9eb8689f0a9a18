// Package couchbase stores verification archives in a Couchbase bucket: couchbase://user@host,host/bucket.
//
// Its design is document, as in the original experiment: the JSON of package design under the derived id,
// with the original's members type, dataType and geoLocation_id in addition to METviewer's names. An id of
// more than 250 bytes, Couchbase's limit, is shortened and ends with a digest of the complete id.
//
// Loads, merges, marks, counts and dumps only need the key-value service (bulk operations, durability
// levels). The flavour keys-native reads derived ids with bulk gets; the others send the original's N1QL to
// the query service, with keys in USE KEYS. A commit consists of writes of single documents, see package
// docengine. It also lists the ids of its new documents, because the key-value service cannot list documents; a
// list that is longer than Couchbase's limit of a document is stored in pieces.
//
// Records under keys are JSON documents with the key table:key, as in YCSB's binding. Sub-document
// operations, each of which is atomic, change fields and read values at a path inside the document. A read
// fetches the complete document and selects fields from it. Scans are not offered: the key-value service
// has no order of keys, its range scans of Couchbase 7.6 have no order over several vBuckets, and N1QL
// cannot be tested here.
//
// No registry has Couchbase for the tests. The tests run the key-value part against CouchbaseMock, compare the
// statements with golden files, and answer statements with a double of the query service. Driver.Untested lists
// what no test runs against a server.
package couchbase
