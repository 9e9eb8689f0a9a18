// Package pace is the load loop: several workers run operations and time each of them. In a closed
// loop, each worker starts the next operation as soon as the previous one returns. In an open loop,
// operations start at a rate of the run as a whole.
//
// Every operation has two times. The service time begins when a worker starts the operation. The
// response time begins when the operation was due. In an open loop, an operation that is late
// because the engine stalls has waited, as its user would have (Gil Tene's coordinated omission).
// In a closed loop both times are the same: a stall is one slow operation of each worker, which is
// what a closed loop hides.
//
// No queue can overflow. Arrivals follow a schedule that is fixed beforehand. A worker that becomes
// free takes the next arrival, however late it is. Operations that were due but never started are
// counted in the result.
//
// Package measure provides the histograms; studies provide the workers.
package pace
