package shef

import "barograph/record"

// Paired tells the elements whose values hold two numbers (7.4.6).
func Paired(pe string) bool { return record.Paired(pe) }

// Split parts a paired value as the manual has the poster do: record.SplitPair.
func Split(v float64) (at int, value float64) { return record.SplitPair(v) }
