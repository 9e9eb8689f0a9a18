// Package archive is the contract of verification archives, which `load` fills and `ask`
// queries: what an engine offers (Offer), how a caller opens an archive (Database), and what
// an archive does (Archive, Loader). Each optional contract is an interface of its own. Of an
// archive: Checker, Finder, Adopter, Labeler, Salvager, RowReader, Singular; of a loader:
// Trimmer.
//
// How records are stored is archive/design, and the text of a question is query/flavour.
// Engines share engine/sqlengine and engine/docengine; the tests of this contract are in
// engine/enginetest. To offer archives, an engine puts a Database into the
// engine.Engine.Abilities of the database that it opens.
//
// It may import engine and the packages below it. Its tests need no server.
package archive
