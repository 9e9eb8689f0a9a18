package study

import (
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// Participant is what a run folder keeps of an engine that is measured: what its
// driver says of it and, if it was asked, the engine itself. Server is nil for an
// engine whose server no lab of this machine started. The caller adds the design,
// the name of a lab, the size and the digest.
//
// It is the one place that copies a Driver and an About into a run.Archive, so that
// no study loses a field: a stand-in server must be unranked in every one.
func Participant(d *engine.Driver, url string, about engine.About, server *run.Server) run.Archive {
	a := run.Archive{Engine: d.Scheme, URL: fault.Redact(url), Place: string(d.Place), Licence: d.Licence, Server: server}
	Describe(&a, about)
	return a
}

// Describe enters into a what the engine says of itself.
func Describe(a *run.Archive, about engine.About) {
	a.Product, a.Version, a.Settings = about.Product, about.Version, about.Settings
	a.Acknowledged, a.Unranked = about.Acknowledged, about.Unranked
}
