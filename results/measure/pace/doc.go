// Package pace generates load: several workers run operations and time each of them. In a closed
// loop, each worker starts the next operation as soon as the previous one returns. In an open loop,
// operations are due at a given rate, which all workers share.
//
// Every operation has two times. The service time begins when a worker starts the operation. The response
// time begins when the operation was due. In an open loop an operation may start late, because the engine
// stalls. Its response time includes this wait, as its user would experience it. A load generator that omits
// the wait makes the error that Gil Tene calls coordinated omission. In a closed loop both times are the same.
// A stall then appears as only one slow operation of each worker: a closed loop hides its true cost.
//
// No queue can overflow. Arrivals follow a schedule that is fixed beforehand. A worker that becomes
// free takes the next arrival, however late it is. Operations that were due but never started are
// counted in the result.
//
// Package measure provides the histograms; studies provide the workers.
package pace
