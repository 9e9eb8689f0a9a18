// Package enginetest is the one conformance suite: every engine's test calls
// Run, and what it does not pass is not an engine of Barograph.
//
// For every design and flavour that the engine's Driver offers, the suite loads
// generated records and holds every answer against the reference, value by
// value and row by row: promised is delivered, and nothing else is accepted.
// Many of its tests are defects that were found in other programs; their names
// say so.
//
// It neighbours answer, which computes the reference and compares, and engine,
// whose contract it puts into tests. Faulty wraps an archive with a fault that
// a comparison must catch.
package enginetest
