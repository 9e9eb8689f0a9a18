// Package metstat is step 1 of the flow for MET: it reads .stat files and
// their _TYPE.txt twins, and the files of MODE, MTD and TC-Pairs, into records,
// and writes records as .stat text.
//
// Sources: MET's met_header_columns_V2.0.txt … V12.0.txt and METdbLoad's
// read_data_files.py, whose rules METviewer's users know.
//
// # What a line is
//
// Every line that is not blank is a header line (its first word is VERSION) or
// a data line. Header lines decide the layout of the lines below them, wherever
// they stand, so concatenated files are read as what they are. The common
// columns are 24 since MET 8.1, 22 before (no FCST_UNITS, OBS_UNITS) and 21 in
// the oldest files (no DESC either); what a layout lacks is "NA". A file whose
// first line is a data line is read as one of 24 columns, and a line of it
// that cannot be read says so.
//
// Columns to the right of LINE_TYPE are known by position (record.Types), as
// MET and METviewer know them. Names there, in _TYPE.txt files, are read only
// where a line has more columns than its type, repeating ones included: if the
// header line names all of them, and those of the type first, the reader leaves
// the others out and counts them in Batch.LeftOut.
// Older versions of MET wrote fewer columns; a line is accepted with the number
// of columns that its version or a later one wrote (see lengths.go), and what it
// lacks is missing. Any other number means a line that was cut, or a version
// that came later: it is quarantined.
//
// # What a value is
//
//   - NA and -9999 (METviewer's) are missing: NaN for numbers, "NA" for words.
//   - Every numeric column has a rule, record.Rule: one table for MET and VSDB. Counts
//     are whole numbers from 0 to 2^53-1, probabilities from 0 to 1, sums finite. A
//     line with a value that breaks its rule is quarantined, and so is one with nan
//     or inf, which no count, mean or score is.
//   - FCST_LEAD and OBS_LEAD are [-][H…]HHMMSS, 1080000 being 108 hours; NA is 0. A
//     lead is at most 99,999 hours long; that of an observation is not negative.
//   - Times are YYYYMMDD_HHMMSS of the years 1678 to 2261, which every engine reads
//     back (record.FirstYear); so is the initial time, valid time less lead. A line
//     with another time, or with NA for one, is quarantined.
//   - ALPHA is kept as text in its shortest form, 0.05000 as "0.05".
//   - EC_VALUE, which MET writes since 11.0, is 1/(number of categories) where
//     it is missing: METdbLoad's rule, 0.5 for CTC and CTS.
//
// # What is quarantined
//
// A line that cannot be read whole is a record.Reject with its reason; nothing
// of it is stored. So is ENSCNT, a type of VSDB alone.
// So is the last line of a file that has no line end, as it may be cut inside
// its last number, unless Options.KeepLast says otherwise.
//
// # Objects and cyclones
//
// A line of MODE, MTD or TC-Pairs is put into the words of a STAT line, of one of
// nine further line types, and then read as all others: FCST_THR and OBS_THR are
// the thresholds, FCST_RAD is INTERP_PNTS, AMODEL is MODEL, BMODEL is OBTYPE, BASIN
// is VX_MASK; what a STAT line has no place for stands in front of the line type's
// own columns. Columns of MODE and MTD are known by their names, intensity_nn as
// the one behind INTENSITY_90; those of TC-Pairs by position. An OBS_VALID that is
// NA is FCST_VALID. Where LEAD is NA it is VALID less INIT; INIT, LEAD and VALID
// that contradict one another quarantine the line. fcst_flag, simple_flag and
// matched_flag are METviewer's. Behind MTD's 2D lines that are all of one valid time
// follow METdbLoad's REV_ lines: what each changes of the one before it.
//
// # What is one record
//
// Header, lead, times and the key columns of the type (record.Column.Key) make
// a record's identity. Known case where MET itself writes several lines with
// one identity and different values: means over climatology bins, vx_mask
// …_BIN_MEAN, whose OBS_THRESH is NA for each of several thresholds. All of
// them are read; an archive keeps the last and counts the others as replaced.
package metstat
