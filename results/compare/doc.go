// Package compare holds runs against one another: the same cells side by side,
// each with what was measured in the first run and in another, whether they
// differ by more than the noise, and what else differs between the runs.
//
// It reads folders by run.Read alone and prints nothing. A cell of which
// anything is not right has no number (run.Measured), on that side.
package compare
