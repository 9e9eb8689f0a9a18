// Package post is step 6 of the flow for river data: the posting workload of
// NOAA's report of 14 April 2006, in which shef_decode_raw posts SHEF products
// into the tables of the RFC archive database.
//
// A product is decoded, then posted; both are timed apart, as the report's
// log_stats does. What the tables hold in the end is digested and held against
// a reference that no database computed, so that no method is fast by losing
// something.
//
//	Source     products, one after the other: a synthetic feed, or files
//	Run        posts a source by one method, by one or more posters
//	Programme  the report's tests: quiet, noise, queue, live, delete, bloat
//
// Several posters divide the stations among themselves, so that the values of
// one key are posted in their order whatever the method.
package post
