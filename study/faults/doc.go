// Package faults kills nodes of a cluster, and reports what became of acknowledged records, of results and of clients.
//
// During a load it kills a node (SIGKILL) at a random moment and restarts it later. If the load fails, a new client
// resumes it until it is complete. The archive loses data in three cases:
//   - Before a client resumes the load, a file is missing that the archive had acknowledged.
//   - The resumed load stores a record as new although it was acknowledged before, and its file is not missing.
//   - In the end the archive differs from that of an undisturbed load.
//
// During queries a client sends all cases in turn and compares each result with the reference. A result must be correct,
// or the query must return an error.
package faults
