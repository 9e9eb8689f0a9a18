// Package couchbase keeps verification archives in a Couchbase bucket:
// couchbase://user@host,host/bucket.
//
// Its design is document, as the original experiment had it: the JSON of
// package design under the derived id, with the original's members type,
// dataType and geoLocation_id beside METviewer's names. An id of more than 250
// bytes, Couchbase's limit, is cut and ends in a digest of the whole.
//
// Loading, merging, marks, counting and dumping need the key-value service
// alone (bulk operations, durability levels); the flavour
// keys-native reads derived ids by bulk gets, the others put the original's
// N1QL to the query service, keys by USE KEYS. A commit is made of
// single-document writes, see package docengine.
//
// Records under keys are JSON documents under table:key, as YCSB's binding has
// them. Fields are changed, and values at a path read, inside the document by
// sub-document operations, of which the server does each as a whole; a read
// fetches the document, and takes chosen fields from it. Scans are not offered:
// the key-value service has no order of keys, its range scans of Couchbase 7.6
// have none over several vBuckets, and N1QL cannot be run here.
//
// No Couchbase is available for the tests. What CouchbaseMock answers, the
// key-value part, is run against it; the statements are held against golden
// files; what was run against no server is said in Driver.NotRun.
package couchbase
