// Package post is the study of river data: the posting workload of NOAA's
// report of 14 April 2006, in which shef_decode_raw posts SHEF products into
// the tables of the RFC archive database.
//
// The study decodes and then posts each product, and times the two steps
// separately, as the report's log_stats does. In the end it compares the digest
// of the tables with a reference that no database computed, so a method that
// loses values is wrong, however fast it is.
//
//	Source     products in sequence: a synthetic feed, or files
//	Run        posts a source by one method, with one or more posters
//	Programme  the report's tests: quiet, noise, queue, live, delete, bloat
//
// Several posters divide the stations among themselves, so every method posts
// the values of a key in their order.
package post
