// Package docengine contains the code that engines with one document per derived id share:
// archives, loaders, queries by ids, and dumps.
//
// An engine provides a Store, whose commits are atomic; how it achieves that is its own
// matter. NewLocked makes a Store of a database that changes only one document at a time
// (MongoDB's API without transactions, Couchbase's key-value service), although a commit
// consists of thousands of documents. A commit proceeds in these steps:
//
//   - It locks the subset.
//   - It writes the documents that it will overwrite into undo documents. Of new documents
//     it writes only the ids.
//   - It marks itself as pending in the subset's state.
//   - It writes the documents.
//   - It replaces the state with one swap: catalog, marks and version change together, and
//     the commit becomes visible. Readers may have seen some of its documents before.
//
// A client that finds a pending commit whose owner gives no heartbeat rewrites the state, so that
// the owner can no longer publish, and restores the documents.
//
// The lock is a document. Its owner replaces it several times per lease as a heartbeat. No two
// clocks are compared: a waiting client takes the lock over if the document has not changed
// for a lease on the client's own clock. An owner whose heartbeats fail or hang for a lease on
// its own clock stops. Nothing stops a write request that the server executes still later.
package docengine
