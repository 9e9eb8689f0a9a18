package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// clusters is Table 6 of the original: the same engine, design and flavour on one node and on
// several.
func (rs *results) clusters(s *Summary) Section {
	sec := Section{Title: "Table 6 · One node and a cluster"}
	var pairs []configurationPair
	for _, a := range rs.run.Archives {
		for _, b := range rs.run.Archives {
			name, few := scheme(a)
			if other, many := scheme(b); name == other && a.Design == b.Design && few < many {
				for _, p := range rs.sameFlavours(Configuration{a.Engine, a.Design, ""}, Configuration{b.Engine, b.Design, ""}) {
					p.name = fmt.Sprintf("%s %s %s: %s → %d", name, a.Design, p.a.Flavour, several(few, "node"), many)
					pairs = append(pairs, p)
				}
			}
		}
	}
	if len(pairs) == 0 {
		sec.Words = say("No engine of this run was measured on one node and on several: every engine is %s.", rs.places())
		return sec
	}
	sec.Table, sec.Words = rs.pairTable(s, "engine", pairs), say("The same engine, design and flavour on one node, then on several. %s", rs.isolationInWords())
	return sec
}

// sameFlavours pairs two archives in every flavour that was used for both.
func (rs *results) sameFlavours(a, b Configuration) (out []configurationPair) {
	for _, w := range rs.configurations {
		b.Flavour = w.Flavour
		if w.Engine == a.Engine && w.Design == a.Design && slices.Contains(rs.configurations, b) {
			out = append(out, configurationPair{"", w, b})
		}
	}
	return out
}

// isolationInWords describes whether the nodes of the clusters were isolated from each other.
func (rs *results) isolationInWords() string {
	var shared, isolated []string
	for _, a := range rs.run.Archives {
		switch _, nodes := scheme(a); {
		case nodes < 2:
		case a.Server.Isolation != nil:
			isolated = appendNew(isolated, a.Engine)
		default:
			shared = appendNew(shared, a.Engine)
		}
	}
	var out []string
	if len(shared) > 0 {
		out = append(out, "The nodes of "+list(shared)+" shared this machine's processors, memory and disk: three such nodes are three processes, not three hosts.")
	}
	if len(isolated) > 0 {
		out = append(out, "Those of "+list(isolated)+" had their own network namespaces and control groups, and shared its disk.")
	}
	return strings.Join(out, " ")
}

// scheme returns the engine's own name, which a run may have replaced, and the number of nodes of
// its server if it is known; 0 = none.
func scheme(a run.Archive) (name string, nodes int) {
	name, _, _ = strings.Cut(a.URL, ":")
	if a.Server != nil {
		nodes = a.Server.Nodes
	}
	return name, nodes
}

// places describes where the engines of a run execute.
func (rs *results) places() string {
	var out []string
	for _, a := range rs.run.Archives {
		if p := map[string]string{"embedded": "embedded in the client", "server": "a single server"}[a.Place]; p != "" {
			out = appendNew(out, p)
		}
	}
	return cmp.Or(strings.Join(out, " or "), "local")
}
