// Package vsdb reads NCEP's Verification Statistics Data Base: it reads VSDB text into batches of
// records, and writes it.
//
// Sources of the format: K. Brill and M. Iredell, EMC Verification Database (NCEP, 22 April 1998),
// the files that NCEP has written since, and the interpretation by METviewer's loader. A line
// consists of a header, '=' and numbers:
//
//	V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02 …
//
// The header is version, model, lead in hours, valid time, obtype, vx_mask, line type, variable,
// level. Rules of the reader:
//
//   - Fields are separated by blanks: space, tab or carriage return. Blank lines are not data lines.
//   - Separator: the first '=' to the right of the line type, either separate or attached to the
//     level ("SFC="). An '=' in the type's threshold ("FHO>=.50") is not a separator. In a line
//     without a separator, the ninth token is the level. If it looks like a number, it is the first
//     number, and the level is empty.
//   - Level: eight header tokens mean an empty level (TSOILT, WSOILT). A line with another number of
//     header tokens than eight or nine is rejected.
//   - Lead: whole hours, one to four digits, never HHMMSS.
//   - Numbers: Fortran's, exponent letter E or D. A '-' after a digit or a point begins the next
//     number ("1.0-2.0"); after an exponent letter it does not. "0.123-100" may be two numbers or
//     Fortran's three-digit exponent without its letter, and is rejected.
//   - Missing: -9999 and NA are NaN. NaN, Infinity and "*****" are rejected. So are values that
//     violate the rule of the column in which they are stored (record.Rule, one table for VSDB and
//     MET), such as negative or fractional totals.
//   - Times: valid and initialization times must be in the years 1678 to 2261, which every engine
//     stores exactly (record.FirstYear).
//   - Count of numbers: a line with more or fewer numbers than its type has is rejected. Columns
//     that were added later (mae, and the mean speeds of VL1L2) must all be present or all be
//     absent.
//   - Last line: a last line without a line end may be truncated inside its last number. It is
//     rejected unless Options.KeepLast is set.
//   - Header text must be valid UTF-8 without control characters, because SQL and JSON cannot
//     represent other text, and at most 512 bytes long. This includes the suffix that
//     Options.Ensemble adds to a model.
//   - A line longer than MaxLine is rejected, and read in bounded memory.
//
// The reader adds a rejected line to Batch.Rejects with its number, its text and a reason that
// names the token, and continues with the rest of the file.
//
// Types that METviewer stores under another name are stored under METviewer's name, with the
// columns that its loader fills (see types.go, which also lists that loader's bugs, in which this
// reader differs).
//
// Related packages: record defines the records; formats opens files, decompresses them and chooses
// the reader; synth calls AppendLine.
package vsdb
