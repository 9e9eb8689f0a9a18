package serve

import (
	"sync"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/run"
)

// ranking is the order in which a finished run recommends its archives.
type ranking struct {
	dir     string // run folder; "" = nothing is recommended
	started time.Time
	rank    map[archiveOf]int // from 1
}

type archiveOf struct {
	engine string // scheme
	design design.Name
}

// rankings remembers those of finished runs, which change no more.
type rankings struct {
	mu    sync.Mutex
	known map[string]ranking // by run folder
}

// latest is the ranking of the newest finished run whose archives are served.
func (s *Server) latest() (out ranking) {
	for _, a := range s.archives {
		if r := s.rankings.of(a.study); len(r.rank) > 0 && (out.dir == "" || r.started.After(out.started)) {
			out = r
		}
	}
	return out
}

// rankOf is the rank of an archive in the run that it belongs to; 0 = that run has none, or is not this one.
func (r ranking) rankOf(a *servedArchive, n design.Name) int {
	if r.dir == "" || a.study != r.dir {
		return 0
	}
	return r.rank[archiveOf{a.driver.Scheme, n}]
}

// of computes the ranking of a run folder as its report does.
func (c *rankings) of(dir string) ranking {
	if dir == "" {
		return ranking{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[dir]; ok {
		return known
	}
	r, _, state, err := readRun(dir)
	if err != nil || state != run.Done {
		return ranking{}
	}
	out := ranking{dir, r.Started, map[archiveOf]int{}}
	if study, err := advise.Read(dir); err == nil {
		for i, c := range study.Advise(advise.Defaults()).Eligible() {
			out.rank[archiveOf{c.Engine, design.Name(c.Design)}] = i + 1
		}
	}
	if c.known == nil {
		c.known = map[string]ranking{}
	}
	c.known[dir] = out
	return out
}
