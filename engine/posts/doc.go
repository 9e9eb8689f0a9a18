// Package posts is the contract of tables of values of SHEF messages, which the study
// post measures and `barograph shef post` fills: how values are laid out (Design), how
// they are written (Method), what becomes of a value whose key is taken (Policy), and the
// open tables (Store, Poster). Reference computes from the messages alone what the
// tables must hold.
//
// What SQL engines share is engine/sqlengine; the part of the suite is
// engine/enginetest. An engine opens its database with a Database among
// engine.Engine.Abilities.
//
// It may import engine and record. Its tests need no server.
package posts
