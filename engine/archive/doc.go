// Package archive is the contract of verification archives, which `load` fills and `ask`
// queries: what an engine offers (Offer), how a caller opens an archive (Database), and what
// an archive does (Archive, Loader). An optional ability is an interface of its own. An Archive may
// also be a Checker, MarkFinder, Adopter, Labeler, Salvager, RowReader or Singular; a Loader may
// also be a Trimmer.
//
// The package archive/design defines how records are stored, and query/flavour writes the text of a question.
// Engines share engine/sqlengine and engine/docengine; the tests of this contract are in engine/enginetest. To offer
// archives, an engine puts a Database into the engine.Engine.Abilities of the database that it opens.
//
// This package may import engine and the packages below it. Its tests need no server.
package archive
