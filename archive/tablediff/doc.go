// Package tablediff compares the contents of two databases of METviewer's schema: one that
// Barograph loaded and one that METdbLoad loaded, or any two.
//
// Ids are not compared, because every loader numbers differently. A line is identified by its file
// and line number, and its header by the texts of stat_header. Both databases must have been loaded
// from files with the same paths. The comparison reads one query per table from both databases,
// sorted in the same way, side by side. Hence its memory does not depend on the size of the
// databases.
//
// It ignores load times, and the invisible columns that Barograph adds to METviewer's tables: SELECT *
// does not return these.
package tablediff
