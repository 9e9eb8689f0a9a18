// Package archive is the contract of verification archives, which `load` fills and `ask`
// asks: what an engine offers (Offer), how an archive is opened (Database), and what it
// does (Archive, Loader). Contracts that an archive may have besides are interfaces of
// their own: Checker, Finder, Adopter, Labeller, Singular, Trimmer.
//
// How records are stored is archive/design, and the text of a question is query/flavour.
// What engines share is engine/sqlengine and engine/docengine; the part of the suite is
// engine/enginetest. An engine opens its database with a Database among
// engine.Engine.Abilities.
//
// It may import engine and what is below it. Its tests need no server.
package archive
