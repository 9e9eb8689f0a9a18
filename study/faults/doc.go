// Package faults kills nodes of a cluster, and reports what became of acknowledged
// records, of results and of clients.
//
// During a load it kills a node (SIGKILL) at a random moment and restarts it later. If
// the load fails, a new client resumes it until it is complete. The archive must still
// have all acknowledged records before they are loaded again, and in the end it must be
// identical to the archive of an undisturbed load.
//
// During queries a client queries all cases in turn and compares each result with the
// reference. A result must be correct, or the query must return an error.
package faults
