// Package curve makes curves of answers: a question and its rows become, for
// each model, region and so on, a statistic along an axis, with the number of
// records behind each point and the interval of its value. Ask draws them, the
// study keeps them, serve shows them.
package curve
