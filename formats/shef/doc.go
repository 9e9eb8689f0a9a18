// Package shef is step 1 of the flow for river data: it reads products in the
// Standard Hydrometeorological Exchange Format into record.Gauge values, one for
// each value of a message, in UTC and English units.
//
// Source of the format: National Weather Service, SHEF Code Manual, 5 July 2012.
// Comments and tests name its paragraphs (4.1.4), tables and the error numbers
// of its appendix J. Where decoders differ, the manual decides; where it is
// silent, shefit, the Weather Service's own decoder, is followed. What is read:
//
//   - .A, .B and .E messages, revised ones (.AR), continuation lines (.A1), packed
//     .B bodies, overrides in them, internal and retained comments.
//   - All date elements (DS DN DH DD DM DY DT DJ), relative dates (DR), creation
//     dates (DC), intervals (DI), units (DU), qualifiers (DQ), durations (DV);
//     time zones of table 8 with the daylight-saving rules of 5.2.3 to 5.2.6.
//   - Parameter codes of two to seven characters, defaults, send codes, with 7
//     a.m. local for HY, PY and QY; missing values, traces, precipitation in
//     hundredths. Paired values are passed on as coded (7.4.6); see Split.
//   - Lines that end in LF, CR, CR LF or CR CR LF; fill and byte order marks are
//     left out.
//   - Product envelopes: SOH … ETX, ZCZC … NNNN, WMO headings, AWIPS ids; many
//     products in a file.
//
// Where it is more forgiving than shefit, which gives up the rest of a message
// at most errors: values that the error leaves certain are decoded. An element
// of a .B header that is not in table 1 keeps its place; a value that cannot be
// read loses itself alone. An error in a date ends the message, or the station
// of a .B body, because the time of what follows is not known.
//
// Nothing ends the run, and nothing is lost in silence: each Result has the
// problems of its product, with the number of appendix J, the line and the
// token, and an Account of every line and of every piece between two slashes.
//
// Three things are not as their paragraph's letter has it, because the manual
// contradicts itself: NS is UTC-3:30, not -2:30 (table 8 against its own N); the
// example after 5.2.6 that gives 0100 and 0200 of the spring day as 0600Z and
// 0700Z (central) is decoded as 0700Z and 0800Z, by the rule above it; factors,
// see elements. DC, DQ, DU and DV in the middle of a .E message begin a new
// series at the last explicit time, as shefit has it; the manual does not say.
//
// Reader reads one stream, DecodeFiles many with several decoders; both use
// bounded memory. Decoding allocates nothing per value but retained comments.
//
// Neighbours: record holds what is read; design and the engines store it.
package shef
