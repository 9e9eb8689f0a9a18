// Package engine is the contract between Barograph and a database.
//
// A Driver is a value, listed in engine/all; nothing registers itself. Registry.Open opens
// a URL and returns an Engine. Engine.Abilities lists what the database can do. The packages
// archive, kv, posts and tables in the folders below this one each define one of these
// contracts. They import this package, never the reverse. Driver.Abilities lists what the
// engine promises; the suite in enginetest tests that the engine keeps each promise.
package engine
