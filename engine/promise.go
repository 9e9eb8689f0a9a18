package engine

// Promise is what a server, as it is set up, promises of writes that it
// acknowledged and of what is read after them, also while its processes are
// killed and started again; not where the machine dies.
type Promise string

// The promises.
const (
	Linearizable   Promise = "linearizable"               // each key, as if calls took place one by one, each between its begin and its end
	ReadYourWrites Promise = "read your writes"           // what a client wrote, or something newer
	MonotonicReads Promise = "monotonic reads"            // what a client has read, or something newer
	NothingLost    Promise = "no acknowledged write lost" // when all is over
	NothingRisen   Promise = "no deleted record back"     // likewise
)

// Promises lists them in their order.
func Promises() []Promise {
	return []Promise{Linearizable, ReadYourWrites, MonotonicReads, NothingLost, NothingRisen}
}
