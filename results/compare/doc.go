// Package compare compares runs with the first of them. For each cell it gives the measurements of
// both runs and whether they differ significantly. It also lists what else differs between the
// runs.
//
// It reads folders only with run.Read and run.ReadEvents, and prints nothing. A cell with an
// incorrect result has no number (run.Measured) in that run.
package compare
