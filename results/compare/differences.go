package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// Difference is a fact that differs between two runs.
type Difference struct {
	Fact          string `json:"what"` // "processor", "postgres wide: version"
	Base          string `json:"base"` // "" = not recorded
	New           string `json:"new"`
	NotComparable bool   `json:"void"` // the runs did different work or used different machines
}

// fact is a named property of a run, as text.
type fact struct {
	name, value string
	mustEqual   bool // runs with different values are not comparable
}

// differences lists the facts that differ between two runs, those with NotComparable first.
func differences(base, other *run.Run) []Difference {
	a, b := factsOf(base), factsOf(other)
	var out []Difference
	index := func(all []fact, name string) int {
		return slices.IndexFunc(all, func(f fact) bool { return f.name == name })
	}
	for _, f := range a {
		if i := index(b, f.name); i < 0 {
			out = append(out, Difference{Fact: f.name, Base: f.value})
		} else if b[i].value != f.value {
			out = append(out, Difference{f.name, f.value, b[i].value, f.mustEqual})
		}
	}
	for _, f := range b {
		if index(a, f.name) < 0 {
			out = append(out, Difference{Fact: f.name, New: f.value})
		}
	}
	harmless := lists.Filter(out, func(d Difference) bool { return !d.NotComparable })
	return append(lists.Filter(out, func(d Difference) bool { return d.NotComparable }), harmless...)
}

// Names of the facts about the data of two runs.
const (
	aboutData   = "data"
	aboutCopies = "number of copies"
)

// Values of fact.mustEqual.
const mustEqual, mayDiffer = true, false

// factsOf returns the properties in which two runs are compared. Those with mustEqual are equal for runs of the same
// work on the same machine.
func factsOf(r *run.Run) []fact {
	m, d := r.Machine, r.Data
	out := []fact{
		{"workload", r.Workload, mustEqual},
		{aboutData, fmt.Sprintf("%s (%s)", d.Digest, run.CountOf(d.Records, "record")), mustEqual},
		{aboutCopies, fmt.Sprint(max(d.Copies, 1)), mustEqual},
		{"policy", r.Policy, mustEqual},
		{"processor", fmt.Sprintf("%s, %s, %d usable", m.CPU, run.CountOf(m.Threads, "thread"), m.UsableCPUs), mustEqual},
		{"memory", fmt.Sprintf("%.1f GB", float64(m.Memory)/1e9), mustEqual},
		{"disk", m.Disk.Type, mustEqual},
		{"system", strings.TrimSpace(m.OS + " " + m.Kernel + " " + m.Virtual), mayDiffer},
		{"barograph", r.Version, mayDiffer},
		{"go", m.Go, mayDiffer},
		{"repetitions", fmt.Sprint(r.Reps), mayDiffer},
		{"seed", fmt.Sprint(r.Seed), mayDiffer},
	}
	if d.Decoded != nil {
		out = append(out, fact{"products", d.Source + ": " + run.CountOf(d.Decoded.Values, "value"), mustEqual})
	}
	for _, a := range r.Archives {
		name := strings.TrimSpace(a.Engine + " " + a.Design)
		version := strings.TrimSpace(a.Product + " " + a.Version)
		out = append(out, fact{name + ": version", version, mayDiffer}, fact{name + ": place", a.Place, mustEqual})
		switch a.Digest {
		case "":
		case d.Digest: // not the digest itself: it would repeat the difference of the data for each archive
			out = append(out, fact{name + ": records", "all of the data", mustEqual})
		default:
			out = append(out, fact{name + ": records", a.Digest, mustEqual})
		}
		out = append(out, settingFacts(name, a.Settings)...)
		if a.Table != nil {
			out = append(out, fact{name + ": table", strings.Join(strings.Fields(a.Table.Definition), " "), mayDiffer})
		}
		if s := a.Server; s != nil {
			out = append(out, fact{name + ": nodes", fmt.Sprint(s.Nodes), mustEqual}, fact{name + ": profile", s.Profile, mayDiffer})
			out = append(out, settingFacts(name+" profile", s.Settings)...)
			out = append(out, fact{name + ": isolation", fmt.Sprintf("%+v", *cmp.Or(s.Isolation, &run.Isolation{})), mustEqual})
		}
	}
	return out
}

// settingFacts returns a fact for each setting.
func settingFacts(name string, all map[string]string) []fact {
	return lists.Map(slices.Sorted(maps.Keys(all)), func(k string) fact { return fact{name + ": " + k, all[k], mayDiffer} })
}
