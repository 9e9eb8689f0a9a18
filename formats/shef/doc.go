// Package shef reads river data: products in the Standard Hydrometeorological Exchange Format
// become record.Gauge values, one for each value of a message, in UTC and English units.
//
// Source of the format: National Weather Service, SHEF Code Manual, 5 July 2012. Comments and tests
// refer to its paragraphs (4.1.4), its tables, and the error numbers of its appendix J. If decoders
// differ, this one follows the manual; where the manual does not specify the behavior, it follows
// shefit, the Weather Service's own decoder. It reads:
//
//   - .A, .B and .E messages, revised ones (.AR), continuation lines (.A1), packed .B bodies, overrides
//     in them, internal and retained comments.
//   - All date elements (DS DN DH DD DM DY DT DJ), relative dates (DR), creation dates (DC), intervals
//     (DI), units (DU), qualifiers (DQ), durations (DV); time zones of table 8 with the daylight-saving
//     rules of 5.2.3 to 5.2.6.
//   - Parameter codes of two to seven characters, defaults, send codes, with 7 a.m. local for HY, PY and
//     QY; missing values, traces, precipitation in hundredths. Paired values are returned as coded
//     (7.4.6); record.SplitPair splits them.
//   - Lines that end in LF, CR, CR LF or CR CR LF. It ignores fill and byte order marks.
//   - Product envelopes: SOH … ETX, ZCZC … NNNN, WMO headings, AWIPS ids; many products in a file.
//
// shefit abandons the rest of a message at most errors. This decoder continues with the values that
// the error does not affect. An element of a .B header that is not in table 1 keeps its place; an
// unreadable value loses only itself. An error in a date ends the message, or the station of a .B
// body, because the time of the following values is unknown.
//
// No error of the text ends the work, and nothing is lost silently: each Result has the problems of
// its product, with the number of appendix J, the line and the token, and an Account of every line
// and of every piece between two slashes. Only a stream that cannot be read is an error.
//
// In three cases the decoder deviates from a paragraph because the manual contradicts itself. NS is
// UTC-3:30, not -2:30 (table 8 contradicts its own N). The example after 5.2.6 decodes 0100 and
// 0200 of the spring day (central) as 0600Z and 0700Z; the rule before it gives 0700Z and 0800Z,
// which the decoder returns. For factors, see elements. DC, DQ, DU and DV inside of a .E message
// begin a new series at the last explicit time, as in shefit; the manual does not specify this.
//
// Reader reads one stream, and DecodeFiles many with several decoders; both use bounded memory.
// Decoding allocates nothing per value except retained comments.
//
// Related packages: record defines the values; design and the engines store them.
package shef
