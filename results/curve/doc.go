// Package curve computes curves from answers: for each model, region and so on, a statistic along
// an axis, with the number of records and the interval of each point. The command ask draws the
// curves, the study stores them, and serve shows them.
package curve
