// Package stat computes verification statistics (ME, RMSE, ACC, CSI and so on) from partial sums and contingency
// counts.
//
// Its input is the numeric columns of records of one line type, and for some statistics of objects their names. Its
// output is numbers. It does not depend on files or databases.
//
// Aggregate first combines records: it adds counts, and averages means with the number of pairs as weight. A statistic
// is then computed from the aggregated columns, as METviewer does. Table lists every statistic with the source of its
// formula; code that prints or draws statistics iterates over that table. Summarize can also compute the statistic of
// each record first, and then the mean, median or sum of the results.
//
// Around the table are confidence intervals (Bootstrap), curves derived from two others (Operation, Equivalent), box
// plots (BoxOf), tests of revisions (RevisionsOf), and statistics that a record already contains (Finished), among them
// those of MODE's and MTD's objects.
//
// If the inputs do not define a statistic (a division by zero, a variance that rounding made negative, a missing
// column), the result has ok == false. A value with ok == true is finite; only the limits of an Interval may be NaN.
// Functions without ok return NaN, unless their comments say otherwise.
package stat
