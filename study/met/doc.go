// Package met is the verification workload, step 6: it loads one data set into
// every archive of a study, proves that each engine, design and flavour gives
// the reference answer to every case, and only then times them.
//
// The reference is computed from the parsed records, by no database. Every
// timed repetition is compared with it too, outside the timed section.
package met
