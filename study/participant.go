package study

import (
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// Participant describes a measured engine for the run folder, from its Driver and
// its About, which may be empty. Server is nil if no lab of this machine started the
// engine's server. The caller adds the design, the name of a lab, the size and the digest.
//
// Only this function copies a Driver and an About into a run.Archive, so that no
// study loses a field: every study must exclude a stand-in server from its ranking.
func Participant(d *engine.Driver, url string, about engine.About, server *run.Server) run.Archive {
	a := run.Archive{Engine: d.Scheme, URL: fault.Redact(url), Place: string(d.Place), License: d.Licence, Server: server}
	Describe(&a, about)
	return a
}

// Describe copies the engine's own description into a.
func Describe(a *run.Archive, about engine.About) {
	a.Product, a.Version, a.Settings = about.Product, about.Version, about.Settings
	a.Acknowledged, a.Unranked = about.Acknowledged, about.Unranked
}
