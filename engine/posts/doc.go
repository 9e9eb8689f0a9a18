// Package posts is the contract of tables of values of SHEF messages, which the study
// post measures and `barograph shef post` fills: the layout of values (Design), how an
// engine writes them (Method), how it treats a value whose key exists (Policy), and the
// open tables (Store, Poster). Reference computes from the messages alone what the
// tables must contain.
//
// SQL engines share engine/sqlengine; the tests of this contract are in engine/enginetest.
// To offer posts, an engine puts a Database into the engine.Engine.Abilities of the database
// that it opens.
//
// This package may import engine and record. Its tests need no server.
package posts
