// Package faults kills nodes of a cluster, and reports what became of acknowledged records, of results and of clients.
//
// During a load it kills a node (SIGKILL) at a random moment and restarts it later. If the load fails, a new client
// resumes it until it is complete. Before that the archive must still have all acknowledged files. If the resumed load
// stores a record of another file that was acknowledged before, the archive had lost it. In the end the archive must be
// identical to that of an undisturbed load.
//
// During queries a client sends all cases in turn and compares each result with the reference. A result must be correct,
// or the query must return an error.
package faults
