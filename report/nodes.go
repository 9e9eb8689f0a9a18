package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"barograph/run"
)

// clusters is Table 6 of the original: the same engine, design and flavour on
// one node and on several.
func (rs *results) clusters(s *Summary) Section {
	sec := Section{Title: "Table 6 · One node and a cluster"}
	var pairs []contest
	for i := range rs.run.Archives {
		for k := range rs.run.Archives {
			a, b := &rs.run.Archives[i], &rs.run.Archives[k]
			if scheme(a) != scheme(b) || a.Design != b.Design || nodes(a) >= nodes(b) {
				continue
			}
			for _, w := range rs.ways {
				other := Way{b.Engine, b.Design, w.Flavour}
				if w.Engine == a.Engine && w.Design == a.Design && slices.Contains(rs.ways, other) {
					name := fmt.Sprintf("%s %s %s: %s → %d", scheme(a), a.Design, w.Flavour, several(nodes(a), "node"), nodes(b))
					pairs = append(pairs, contest{name, w, other})
				}
			}
		}
	}
	if len(pairs) == 0 {
		sec.Words = say("This run compares no engine on one node with the same on several: every engine in it is %s.", rs.places())
		return sec
	}
	sec.Table, sec.Words = rs.duel(s, "engine", pairs), say("The same engine, design and flavour on one node, then on several. %s", rs.apart())
	return sec
}

// apart reports whether the nodes of the clusters were kept apart.
func (rs *results) apart() string {
	var shared, isolated []string
	for i := range rs.run.Archives {
		a := &rs.run.Archives[i]
		switch {
		case nodes(a) < 2:
		case a.Server.Isolation != nil:
			isolated = once(isolated, a.Engine)
		default:
			shared = once(shared, a.Engine)
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

// places are where the engines of a run work, in words.
func (rs *results) places() string {
	var out []string
	for _, a := range rs.run.Archives {
		if p := map[string]string{"embedded": "embedded in the client", "server": "a single server"}[a.Place]; p != "" {
			out = once(out, p)
		}
	}
	return cmp.Or(strings.Join(out, " or "), "local")
}
