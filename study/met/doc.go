// Package met is the study of verification archives. It loads one data set into
// every archive, proves that each engine, design and flavour returns the
// reference result for every case, and only then times them.
//
// The reference is computed from the parsed records, without a database. The
// study also compares the result of every timed repetition with it, after the
// clock has stopped. The dry engine answers from memory; its times are the client overhead.
package met
