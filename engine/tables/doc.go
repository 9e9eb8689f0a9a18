// Package tables is the contract of engines that load sets of tables and answer
// questions about them: the ability of the commands scan, scan own and scan lake.
//
// A database offers the ability as *Databases, one of engine.Engine.Abilities. Its
// three functions open the same things with different sources of rows:
//
//	function  command    rows come from                 what a placement is     reference
//	Own       scan own   a user's Parquet or CSV files  one, the engine's own   DuckDB over the files, by declared types
//	Star      scan       TPC-DS, made by synth tpcds    paths × partitions      StarReference, which no database computed
//	Lake      scan lake  verification records           partitioning × size     answer.Reference, computed from the files
//
// The target is one type for the three: Tables, which loads a set of tables at a
// placement, runs a text and returns rows, a plan, sizes and resource use. Each of
// these types is or will be replaced by it:
//
//	type              replaced by                          what remains of it
//	Tables            itself
//	Star              Tables, opened at a Placement        StarFiles and StarReference
//	Lake              Tables, whose Load names a prefix    Write, of the one engine that writes the files
//	StarTable         Table with the columns of TPC-DS     the names
//	StarRow           itself: the declared types of a row  itself
//
// One comparator, answer.CompareLoose, judges own tables and the star. Own tables have the
// degree of proof "engines agree", the star has "every value". The lake's records have
// a stricter one: answer.Compare also compares lists and the keys of records.
//
// This package imports package engine and never the reverse, so an engine that has
// no tables carries nothing of it. Package sqlengine holds what SQL engines share.
// Package engine/enginetest/scantest is the suite of Star; the tests of study/own and
// study/lake run Own and Lake on every engine that promises them:
//
//	go test ./engine/tables ./study/own ./study/lake
package tables
