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
	dir     string // run folder; "" = no archive is recommended
	started time.Time
	rank    map[configuration]int // from 1
}

// configuration is an engine and a design. A ranking compares them by their fastest flavours.
type configuration struct {
	engine string // scheme
	design design.Name
}

// rankings caches the rankings of finished runs, which do not change any more.
type rankings struct {
	mu    sync.Mutex
	byDir map[string]ranking // by run folder
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

// rankOf returns the rank of an archive; 0 if r is not the ranking of the archive's run, or does not rank it.
func (r ranking) rankOf(a *servedArchive, n design.Name) int {
	if r.dir == "" || a.study != r.dir {
		return 0
	}
	return r.rank[configuration{a.driver.Scheme, n}]
}

// of returns the ranking of a run folder, which equals that of its report.
func (c *rankings) of(dir string) ranking {
	if dir == "" {
		return ranking{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cached, ok := c.byDir[dir]; ok {
		return cached
	}
	r, _, state, err := readRun(dir)
	if err != nil || state != run.Done {
		return ranking{}
	}
	out := ranking{dir, r.Started, map[configuration]int{}}
	if study, err := advise.Read(dir); err == nil { // other runs recommend nothing
		for i, candidate := range study.Advise(advise.Defaults()).Eligible() {
			out.rank[configuration{candidate.Engine, design.Name(candidate.Design)}] = i + 1
		}
	}
	if c.byDir == nil {
		c.byDir = map[string]ranking{}
	}
	c.byDir[dir] = out
	return out
}
