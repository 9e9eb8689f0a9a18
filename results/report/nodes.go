package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// clusters returns Table 6 of the original: the same engine, design and flavour on one node and on several. It omits
// engines whose number of nodes is unknown.
func (rs *results) clusters(s *Summary) Section {
	out := Section{Title: "Table 6 · One node and a cluster"}
	var pairs []configurationPair
	for _, a := range rs.run.Archives {
		for _, b := range rs.run.Archives {
			engine, nodes := engineAndNodes(a)
			other, moreNodes := engineAndNodes(b)
			if engine != other || a.Design != b.Design || nodes == 0 || nodes >= moreNodes {
				continue
			}
			single, cluster := Configuration{a.Engine, a.Design, ""}, Configuration{b.Engine, b.Design, ""}
			for _, p := range rs.sameFlavours(single, cluster) {
				p.name = fmt.Sprintf("%s %s %s: %s → %d", engine, a.Design, p.a.Flavour, several(nodes, "node"), moreNodes)
				pairs = append(pairs, p)
			}
		}
	}
	if len(pairs) == 0 {
		out.Words = say("No engine of this run was measured on one node and on several: every engine is %s.", rs.places())
		return out
	}
	out.Table = rs.pairTable(s, "engine", pairs)
	out.Words = say("The same engine, design and flavour on one node, then on several. %s", rs.isolationInWords())
	return out
}

// sameFlavours pairs two archives in every flavour that was used for both.
func (rs *results) sameFlavours(a, b Configuration) (out []configurationPair) {
	for _, c := range rs.configurations {
		b.Flavour = c.Flavour
		if c.Engine == a.Engine && c.Design == a.Design && slices.Contains(rs.configurations, b) {
			out = append(out, configurationPair{"", c, b})
		}
	}
	return out
}

// isolationInWords describes whether the nodes of the clusters were isolated from each other.
func (rs *results) isolationInWords() string {
	var shared, isolated []string
	for _, a := range rs.run.Archives {
		switch _, nodes := engineAndNodes(a); {
		case nodes < 2:
		case a.Server.Isolation != nil:
			isolated = appendNew(isolated, a.Engine)
		default:
			shared = appendNew(shared, a.Engine)
		}
	}
	var out []string
	if len(shared) > 0 {
		out = append(out, "The nodes of "+list(shared)+" shared this machine's processors, memory and disk: "+
			"three such nodes are three processes, not three hosts.")
	}
	if len(isolated) > 0 {
		out = append(out, "The nodes of "+list(isolated)+" had their own network namespaces and control groups, and shared "+
			"this machine's disk.")
	}
	return strings.Join(out, " ")
}

// engineAndNodes returns the name of the engine in its URL, because the user may have given the archive another name,
// and the number of nodes of its server; 0 = not known, or no server. A URL of the form @FILE does not name the engine.
func engineAndNodes(a run.Archive) (engine string, nodes int) {
	if engine, _, _ = strings.Cut(a.URL, ":"); strings.HasPrefix(engine, "@") {
		engine = a.Engine
	}
	if a.Server != nil {
		nodes = a.Server.Nodes
	}
	return engine, nodes
}

// places describes where the engines of a run execute.
func (rs *results) places() string {
	var out []string
	for _, a := range rs.run.Archives {
		switch a.Place {
		case "embedded":
			out = appendNew(out, "embedded in the client")
		case "server":
			out = appendNew(out, "a single server")
		}
	}
	return cmp.Or(strings.Join(out, " or "), "local")
}

// serverInWords describes a server that barograph lab started; nil is a server that the user started.
func serverInWords(s *run.Server) string {
	if s == nil {
		return "not started by barograph lab; the table “Engines, versions and settings” of the page describes it"
	}
	description := fmt.Sprintf("%s, profile %s", several(s.Nodes, "node"), s.Profile)
	if len(s.Settings) > 0 {
		description += " (" + settings(s.Settings) + ")"
	}
	limits := s.Isolation
	if limits == nil {
		return description + ", on the same machine as the client: they share cores, memory and loopback"
	}
	description += ", each with its own network namespace and control group"
	if limits.CPUs > 0 {
		description += ", " + number(limits.CPUs) + " cores"
	}
	if limits.Memory > 0 {
		description += ", " + byteSize(float64(limits.Memory))
	}
	if limits.Latency > 0 {
		description += ", " + elapsed(limits.Latency) + " added to each packet"
	}
	return description
}
