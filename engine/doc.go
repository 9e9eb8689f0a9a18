// Package engine is the contract between Barograph and a database.
//
// A Driver is a value, listed in engine/all; nothing registers itself. Opening a URL
// gives an Engine. What it can do is in its Abilities: the packages archive, kv, posts and
// tables below this one define one contract each, and import this package, never the
// reverse. Driver.Abilities lists what is
// promised; the suite in enginetest tests that each promise is kept.
package engine
