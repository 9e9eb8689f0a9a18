// Package faults kills nodes of a cluster and tells what became of what it had
// acknowledged, of its answers and of its clients.
//
// During a load: a node is killed (SIGKILL) at a random moment and started
// again later, while a client loads; a load that fails is resumed, by a client
// of its own, until it is through. What was acknowledged must be there, without
// being loaded again, and the archive must end as an undisturbed load leaves it.
//
// During questions: a client asks every case in turn, each answer held against
// the reference. Answers must be right, or fail loudly.
package faults
