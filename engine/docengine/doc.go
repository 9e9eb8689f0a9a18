// Package docengine holds what engines share that keep one document per
// derived id: archives, loaders, asking by ids, walking.
//
// An engine brings a Store, whose commits are all there or not at all, in
// whatever way it has for that. Of a store that changes one document at a time
// (MongoDB's API without transactions, Couchbase's key-value service) NewLocked
// makes one: a commit brings thousands of documents. It takes the subset's lock, writes what it is about to overwrite (or the ids
// alone, of documents that are new) into undo documents, notes in the subset's
// state that it is pending, writes the documents, and then, by one swap of the
// state, counts: catalog, marks and version change together. Whoever finds a
// pending commit whose owner gives no sign of life puts the documents back.
//
// The lock is a document that its holder swaps for a new one several times per
// lease. Nobody's clock is compared with another's: who waits takes the lock
// over where it has not changed for a lease on the waiter's own clock.
package docengine
