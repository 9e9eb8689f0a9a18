// Package enginetest is the conformance suite of all engines. Every engine's test calls Run and must pass it.
//
// For every design and flavour that the engine's Driver offers, the suite loads generated records and
// compares every answer with the reference, value by value and row by row. An engine must deliver
// everything that it promises. Many of the tests reproduce defects of other programs; their names say so.
//
// Package answer computes the reference and compares; package engine contains the contract that the tests
// check. Faulty wraps an archive with a fault that a comparison must detect.
package enginetest
