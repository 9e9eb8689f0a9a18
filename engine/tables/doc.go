// Package tables is the contract of engines that load sets of tables and answer
// questions about them, for the commands scan, scan own and scan lake.
//
// A database offers the contract as *Databases, one of engine.Engine.Abilities. Its three
// functions open tables with different sources of rows. A placement is where the tables are
// stored, and how they are divided:
//
//	function  command    rows come from                 placement               reference
//	Own       scan own   a user's Parquet or CSV files  one, the engine's own   DuckDB over the files, by declared types
//	Star      scan       TPC-DS, made by synth tpcds    paths × partitions      StarReference, computed from the files
//	Lake      scan lake  verification records           partitioning × size     answer.Reference, computed from the files
//
// The three functions return different types. It is planned that the type Tables, which Own returns today, replaces all
// three. It would then also take a placement and return query plans. These would change:
//
//	type       would become                       what would stay
//	Star       Tables, opened at a Placement      StarFiles and StarReference
//	Lake       Tables, whose Load names a prefix  Write, which only DuckDB has
//	StarTable  Table with the columns of TPC-DS   the names
//
// One comparator, answer.CompareLoose, compares own tables and the star. The degree of proof
// is "engines agree" for own tables and "every value" for the star. The lake's records have
// a stricter comparator: answer.Compare also compares lists and the keys of records.
//
// This package imports package engine and never the reverse, because an engine without
// tables must not depend on it. SQL engines share package sqlengine. Package
// engine/enginetest/scantest tests Star; the tests of study/own and study/lake run Own and
// Lake on every engine that promises them:
//
//	go test ./engine/tables ./study/own ./study/lake
package tables
