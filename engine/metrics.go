package engine

// Metrics is what a server tells of itself at one moment.
type Metrics struct {
	Totals   []Total   // since the server began, so that two tell what lies between; in one order
	Sessions []Session // those that are at work now, but for the one that asks
}

// Total is a count that only grows.
type Total struct {
	Name  string // in the server's own words
	Unit  string // "bytes", "ms", or "" for a plain count
	Value float64
}

// Session groups sessions by what they wait for.
type Session struct {
	Wait  Wait
	What  string // in the server's own words: "LWLock:WALWrite"
	Count int
}

// Wait is a kind of thing that a session waits for.
type Wait string

// The kinds.
const (
	OnCPU     Wait = "cpu"     // for nothing: it computes, or queues for a core
	OnLock    Wait = "lock"    // for another session
	OnDisk    Wait = "disk"    // for reads, writes or their flush
	OnNetwork Wait = "network" // for its client, or for another node
	OnOther   Wait = "other"
)
