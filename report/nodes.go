package report

import (
	"fmt"
	"slices"
	"strings"

	"barograph/run"
)

// clusters is Table 6 of the original: the same engine, design and flavour on
// one node and on several.
func (rs *results) clusters(s *Summary) section {
	sec := section{Title: "Table 6 · One node and a cluster"}
	var pairs []contest
	for i := range rs.run.Archives {
		for k := range rs.run.Archives {
			a, b := &rs.run.Archives[i], &rs.run.Archives[k]
			if scheme(a) != scheme(b) || a.Design != b.Design || nodes(a) >= nodes(b) {
				continue
			}
			for _, w := range rs.ways {
				other := way{b.Engine, b.Design, w.Flavour}
				if w.Engine == a.Engine && w.Design == a.Design && slices.Contains(rs.ways, other) {
					name := fmt.Sprintf("%s %s %s: %s → %d", scheme(a), a.Design, w.Flavour, several(nodes(a), "node"), nodes(b))
					pairs = append(pairs, contest{name, w, other})
				}
			}
		}
	}
	if len(pairs) == 0 {
		sec.Lead = "This run compares no engine on one node with the same on several: every engine in it is " + rs.places() + "."
		return sec
	}
	t := rs.duel(s, "engine", pairs)
	sec.Table, sec.Lead = &t, "The same engine, design and flavour on one node, then on several. "+rs.apart()
	return sec
}

// apart reports whether the nodes of the clusters were kept apart.
func (rs *results) apart() string {
	var shared, isolated []string
	for i := range rs.run.Archives {
		a := &rs.run.Archives[i]
		to := &shared
		switch {
		case nodes(a) < 2:
			continue
		case a.Server.Isolation != nil:
			to = &isolated
		}
		if !slices.Contains(*to, a.Engine) {
			*to = append(*to, a.Engine)
		}
	}
	var out []string
	if len(shared) > 0 {
		out = append(out, "The nodes of "+list(shared)+" shared this machine's processors, memory and disk: three such nodes are three processes, not three hosts.")
	}
	if len(isolated) > 0 {
		out = append(out, "Those of "+list(isolated)+" had network namespaces and control groups of their own, and shared its disk.")
	}
	return strings.Join(out, " ")
}

// scheme is the engine's own name, which a run may have replaced by another.
func scheme(a *run.Archive) string {
	s, _, _ := strings.Cut(a.URL, ":")
	return s
}

// nodes counts the nodes of an archive's server, as far as is known; 0 = none.
func nodes(a *run.Archive) int {
	if a.Server == nil {
		return 0
	}
	return a.Server.Nodes
}
