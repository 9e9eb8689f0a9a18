// Package vsdb is step 1 of the flow for NCEP's Verification Statistics Data
// Base: it reads VSDB text into batches of records, and writes it.
//
// Source of the format: K. Brill and M. Iredell, EMC Verification Database
// (NCEP, 22 April 1998), the files that NCEP has written since, and what
// METviewer's loader makes of them. A line is a header, '=' and numbers:
//
//	V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02 …
//
// that is version, model, lead in hours, valid time, obtype, vx_mask, line
// type, variable, level. Rules of the reader:
//
//   - Fields are separated by blanks: space, tab or carriage return. Blank
//     lines are not data lines.
//   - Separator: the first '=' to the right of the line type, whether it stands
//     alone or is glued to the level ("SFC="). An '=' in the type's threshold
//     ("FHO>=.50") is none. In a line without a separator the ninth token is
//     the level, unless it looks like a number: then it is the first number
//     and the level is empty.
//   - Level: eight header tokens mean an empty level (TSOILT, WSOILT). Any other
//     number of tokens than eight and nine is an error.
//   - Lead: whole hours, one to four digits, never HHMMSS.
//   - Numbers: Fortran's, exponent letter E or D. A '-' after a digit or a point
//     begins the next number ("1.0-2.0"); after an exponent letter it does not.
//     "0.123-100" may be two numbers or Fortran's three-digit exponent without
//     its letter, and is rejected.
//   - Missing: -9999 and NA are NaN. NaN, Infinity and "*****" are rejected, and
//     values that break the rule of the column in which they are stored
//     (record.Rule, one table for VSDB and MET): totals that are negative or not whole.
//   - Times: valid and initial times are of the years 1678 to 2261, which every
//     engine reads back (record.FirstYear).
//   - Count of numbers: a line with more numbers than its type has, or with fewer,
//     is rejected. Columns that came later are all there or none: mae, and the
//     mean speeds of VL1L2.
//   - Last line: one without a line end may be cut inside its last number, and
//     is rejected, unless Options.KeepLast says otherwise.
//   - Header text must be valid UTF-8 without control characters, because SQL
//     and JSON could not hold it, and at most 512 bytes long.
//   - A line longer than MaxLine is rejected, and read in bounded memory.
//
// A rejected line goes to Batch.Rejects with its number, its text and a reason
// that names the token; the rest of the file goes on.
//
// Types that METviewer stores under another name are stored under METviewer's,
// with the columns that its loader fills (see types.go, which also says where
// that loader is wrong and this reader differs).
//
// Neighbours: package record holds what is read; package formats opens files,
// undoes compression and chooses the reader; package synth calls AppendLine.
package vsdb
