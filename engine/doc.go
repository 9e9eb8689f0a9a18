// Package engine is the contract between Barograph and a database.
//
// A Driver is a value, listed in engine/all; nothing registers itself. Registry.Open opens a URL and returns an Engine.
//
// An ability is what a database can do for one kind of study, for example store verification archives. The packages
// archive, kv, posts and tables in the folders below this one each define the contract of one ability (a type Database
// or Databases) and what a driver can promise of it (a type Offer). They import this package, never the reverse.
// Engine.Abilities lists the abilities of an open database. Driver.Offers lists what the driver promises of each; the
// suite in enginetest tests that the engine keeps every promise.
package engine
