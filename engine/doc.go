// Package engine is step 4: the contract between Barograph and a database.
//
// A Driver is a value, listed in engine/all; nothing registers itself. Opening
// a URL gives an Engine, a struct of abilities in which nil means "cannot". The
// verification workload uses Archives, the ycsb workload KV; later workloads bring
// further fields.
// The suite in enginetest holds every engine to what is written here.
package engine
