// Package archive is the contract of verification archives, which `load` fills and `ask`
// queries: what an engine offers (Offer), how a caller opens an archive (Database), and what
// an archive does (Archive, Loader). Each optional contract of an archive is an interface of
// its own: Checker, Finder, Adopter, Labeller, Salvager, Singular, Trimmer.
//
// How records are stored is archive/design, and the text of a question is query/flavour.
// Engines share engine/sqlengine and engine/docengine; the tests of this contract are in
// engine/enginetest. An engine opens its database with a Database among
// engine.Engine.Abilities.
//
// It may import engine and the packages below it. Its tests need no server.
package archive
