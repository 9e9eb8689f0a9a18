// Package stat turns partial sums and contingency counts into verification
// statistics: ME, RMSE, ACC, CSI and so on.
//
// It stands beside the flow of package record: what it is given are the
// numeric columns of records of one line type, what it returns are numbers. It
// knows of no file and of no database.
//
// Records are aggregated first (Aggregate: counts are added, means are averaged
// with the number of pairs as weight), then a statistic is computed from the
// aggregated columns, as METviewer does. Table lists every statistic with its
// formula's source; whoever prints or draws statistics walks that table.
//
// A statistic that its inputs do not define (a division by zero, a variance
// that rounding made negative, a missing column) is reported as ok == false.
// No function of this package returns NaN or an infinity with ok == true.
package stat
