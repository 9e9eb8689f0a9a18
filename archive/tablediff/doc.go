// Package tablediff compares what two databases of METviewer's schema hold:
// one that Barograph loaded and one that METdbLoad loaded, or any two.
//
// Ids say nothing, as every loader numbers as it likes: a line stands for its
// file and line number, its header for the texts of stat_header. Both databases
// must have been loaded from files of the same paths. A query per table and
// database, sorted alike by both, is read side by side, so that memory does not
// grow with the databases.
//
// Columns that METviewer's SELECT * does not see (those of Barograph, which are
// invisible) and the times of loading are not compared.
package tablediff
