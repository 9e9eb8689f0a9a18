// Package metstat reads MET's files: .stat files and the corresponding _TYPE.txt files, and the
// files of MODE, MTD and TC-Pairs. It also writes records as .stat text.
//
// Sources: MET's met_header_columns_V2.0.txt … V12.0.txt and METdbLoad's read_data_files.py, whose
// rules METviewer's users know.
//
// # Lines
//
// Every nonblank line is a header line (its first word is VERSION) or a data line. A header line
// determines the layout of the following lines, wherever it occurs; hence concatenated files are
// read correctly. If the header line is not valid, the reader quarantines the following lines. The
// common columns are 24 since MET 8.1, 22 before (no FCST_UNITS, OBS_UNITS) and 21 in the oldest
// files (also no DESC); a missing column is "NA". If the first line of a file is a data line, the
// reader assumes 24 columns. The reason for rejecting a line of such a file mentions this
// assumption.
//
// Columns to the right of LINE_TYPE are identified by position (record.Types), as in MET and
// METviewer. The header lines of _TYPE.txt files name these columns. The reader ignores the names
// unless they include all columns of the type. If they do, it uses them in two cases:
//
//   - The names are in another order than MET's. Then they decide which value belongs to which
//     column. If the type has repeating columns, the reader quarantines the line.
//   - The line has columns that the type does not have, and the header line names all columns of the
//     line. Then the reader omits the further columns and counts them in Batch.OmittedColumns. TCDIAG
//     is an exception.
//
// Older versions of MET wrote fewer columns. The reader accepts a line with the number of columns
// that its version or a later one wrote (see lengths.go); the other columns are missing. Any other
// number means a truncated line or a later version, and the line is quarantined.
//
// # Values
//
//   - A number NA or -9999 (METviewer's) is missing, and becomes NaN. A missing word is NA in the file
//     and in the record.
//   - Every numeric column has a rule, record.Rule, the same for MET and VSDB. Counts are integers
//     from 0 to 2^53-1, probabilities are from 0 to 1, sums are finite. The reader quarantines a
//     line with a value that violates its rule, and a line with nan or inf, which are not valid
//     counts, means or scores.
//   - FCST_LEAD and OBS_LEAD are [-][H…]HHMMSS: 1080000 is 108 hours; NA is 0. A lead of one to four
//     digits is in hours, as MET reads it; one of five digits is ambiguous and refused. A lead is at
//     most 99,999 hours long; that of an observation is not negative.
//   - Times are YYYYMMDD_HHMMSS in the years 1678 to 2261, which every engine stores exactly
//     (record.FirstYear). The same applies to the initialization time, valid time minus lead. The
//     reader quarantines a line with another time, or with NA for one.
//   - ALPHA is stored as text in its shortest form, 0.05000 as "0.05"; -9999 is stored as NA.
//   - EC_VALUE, which MET writes since 11.0 (for MCTC and MCTS since 10.1), is 1/(number of
//     categories) if it is missing: METdbLoad's rule, 0.5 for CTC and CTS.
//
// # Quarantine
//
// A line that cannot be read completely is a record.Reject with its reason; nothing of it is
// stored. This includes lines of ENSCNT, which exists only in VSDB. It also includes a last line
// without a line end, because it may be truncated inside its last number, unless Options.KeepLast
// is set.
//
// # Objects and cyclones
//
// The reader translates a line of MODE, MTD or TC-Pairs into the fields of a STAT line, of one of
// nine further line types, and then reads it like all others: FCST_THR and OBS_THR are the
// thresholds, FCST_RAD is INTERP_PNTS, AMODEL is MODEL, BMODEL is OBTYPE, BASIN is VX_MASK. Fields
// that a STAT line does not have precede the line type's own columns. Columns of MODE and MTD are
// identified by their names. One is an exception: intensity_nn is the column to the right of
// INTENSITY_90, because its name contains the percentile that the user chose. Columns of TC-Pairs
// after LINE_TYPE are identified by position.
//
// If one of FCST_VALID and OBS_VALID is NA, the other one replaces it. In TC-Pairs, a LEAD of NA is
// VALID minus INIT, and the reader quarantines a line whose INIT, LEAD and VALID contradict each
// other. fcst_flag, simple_flag and matched_flag are METviewer's.
//
// If the 2D lines of MTD all have one valid time, METdbLoad's REV_ lines follow them: the change of
// each line from the previous one. For these, the reader keeps all 2D lines below one header line in
// memory.
//
// # Identity of a record
//
// Header, lead, times and the identity columns of the type (record.Column.InIdentity) are a record's
// identity. In one known case MET itself writes several lines with one identity and different values:
// means over climatology bins, vx_mask …_BIN_MEAN, whose OBS_THRESH is NA for each of several
// thresholds. The reader returns all of them. An archive keeps the first one and reports the others as
// conflicts, unless --on-conflict says otherwise.
package metstat
