package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// Difference is a fact that differs between two runs.
type Difference struct {
	Fact          string `json:"what"` // "processor", "postgres wide: version"
	Base          string `json:"base"` // "" = not recorded
	New           string `json:"new"`
	NotComparable bool   `json:"void"` // the runs did different work or used different machines
}

// fact is a named property of a run.
type fact struct {
	name, value string
	mustEqual   bool // if the other run's value differs
}

// differences lists the facts that differ between two runs; those that make a comparison void are
// first.
func differences(base, other *run.Run) []Difference {
	a, b := factsOf(base), factsOf(other)
	var out []Difference
	at := func(all []fact, what string) int {
		return slices.IndexFunc(all, func(f fact) bool { return f.name == what })
	}
	for _, f := range a {
		if i := at(b, f.name); i < 0 {
			out = append(out, Difference{Fact: f.name, Base: f.value})
		} else if b[i].value != f.value {
			out = append(out, Difference{f.name, f.value, b[i].value, f.mustEqual})
		}
	}
	for _, f := range b {
		if at(a, f.name) < 0 {
			out = append(out, Difference{Fact: f.name, New: f.value})
		}
	}
	slices.SortStableFunc(out, func(x, y Difference) int {
		switch {
		case x.NotComparable == y.NotComparable:
			return 0
		case x.NotComparable:
			return -1
		}
		return 1
	})
	return out
}

// Names of the facts about the data of two runs.
const (
	aboutData   = "data"
	aboutCopies = "number of copies"
)

// factsOf returns the properties in which two runs are compared. The facts with void are the same
// for runs of the same work on the same machine.
func factsOf(r *run.Run) []fact {
	m, d := r.Machine, r.Data
	out := []fact{
		{"workload", r.Workload, true},
		{aboutData, fmt.Sprintf("%s (%d records)", d.Digest, d.Records), true},
		{aboutCopies, fmt.Sprint(max(d.Copies, 1)), true},
		{"policy", r.Policy, true},
		{"processor", fmt.Sprintf("%s, %d threads, %d usable", m.CPU, m.Threads, m.UsableCPUs), true},
		{"memory", fmt.Sprintf("%.1f GB", float64(m.Memory)/1e9), true},
		{"disk", m.Disk.Type, true},
		{"system", strings.TrimSpace(m.OS + " " + m.Kernel + " " + m.Virtual), false},
		{"barograph", r.Version, false},
		{"go", m.Go, false},
		{"repetitions", fmt.Sprint(r.Reps), false},
		{"seed", fmt.Sprint(r.Seed), false},
	}
	if d.Decoded != nil {
		out = append(out, fact{"products", fmt.Sprintf("%s: %d values", d.Source, d.Decoded.Values), true})
	}
	for _, a := range r.Archives {
		name := strings.TrimSpace(a.Engine + " " + a.Design)
		out = append(out, fact{name + ": version", strings.TrimSpace(a.Product + " " + a.Version), false}, fact{name + ": place", a.Place, true})
		switch a.Digest {
		case "":
		case d.Digest:
			out = append(out, fact{name + ": holds", "all of the data", true})
		default:
			out = append(out, fact{name + ": holds", a.Digest, true})
		}
		out = append(out, settingFacts(name, a.Settings)...)
		if a.Table != nil {
			out = append(out, fact{name + ": table", strings.Join(strings.Fields(a.Table.Definition), " "), false})
		}
		if s := a.Server; s != nil {
			out = append(out, fact{name + ": nodes", fmt.Sprint(s.Nodes), true}, fact{name + ": profile", s.Profile, false})
			out = append(out, settingFacts(name+" profile", s.Settings)...)
			if s.Isolation != nil {
				out = append(out, fact{name + ": isolation", fmt.Sprintf("%+v", *s.Isolation), true})
			}
		}
	}
	return out
}

func settingFacts(name string, all map[string]string) (out []fact) {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, fact{name + ": " + k, all[k], false})
	}
	return out
}
