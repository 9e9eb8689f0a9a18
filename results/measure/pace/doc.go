// Package pace is the load loop: it runs operations by several workers, one
// after the other as fast as they return (closed loop) or at a rate of the run
// as a whole (open loop), and times each of them.
//
// Two times are kept of every operation. The service time begins when a worker
// begins it. The response time begins when it should have started: in an open
// loop an operation that waits for a free worker, because the engine stalls,
// has waited, as its user would have (Gil Tene's coordinated omission). In a
// closed loop nobody waits, and both are the same: a stall is one slow
// operation of each worker, which is what a closed loop hides.
//
// There is no queue that could overflow. Arrivals follow a schedule that is
// known beforehand; a worker that becomes free takes the next one, however
// late it is, and what was due but never started is counted in the result.
//
// It neighbours measure, which has the histograms; workloads bring the workers.
package pace
