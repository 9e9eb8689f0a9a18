package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"barograph/measure"
	"barograph/run"
)

// head is the top of the page: what was asked, the answer, and what a reader
// needs to judge it.
type head struct {
	ID, When    string
	Scope       string
	Proof       string // was every answer right
	Right       bool
	Speed       string
	Interrupted bool
	Warnings    []string
	Facts       []fact
	Engines     table
	Types       table
}

type fact struct{ Name, Text string }

func (f *folder) head() head {
	r := f.run
	h := head{
		ID: r.ID, When: r.Started.UTC().Format("2 January 2006, 15:04 UTC"), Scope: f.scope(),
		Proof: f.proofInWords(&f.sum), Right: f.sum.Wrong+f.sum.Failed+f.sum.Incomplete == 0, Speed: f.speedInWords(&f.sum),
		Interrupted: r.Ended.IsZero(), Warnings: slices.Clone(r.Warnings),
		Facts: f.facts(), Engines: f.engineTable(), Types: f.typeTable(),
	}
	if w := f.clientWarning(); w != "" {
		h.Warnings = append(h.Warnings, w)
	}
	return h
}

// clientWarning is that of measure, for servers alone: an embedded engine works
// inside the client and is expected to use its cores.
func (f *folder) clientWarning() string {
	for _, a := range f.run.Archives {
		if a.Place == "server" {
			return f.run.Client.Warning(measure.BusyShare)
		}
	}
	return ""
}

// scope says how much was compared.
func (f *folder) scope() string {
	engines, ways, floor := map[string]bool{}, 0, ""
	for _, w := range f.ways {
		if f.floor(w.Engine, w.Design) {
			floor = ", with the client's own floor beside them"
			continue
		}
		engines[w.Engine] = true
		ways++
	}
	if ways == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s of asking and %s%s.", several(len(engines), "engine"), several(ways, "way"), several(len(f.cases), "case"), floor)
}

func (f *folder) facts() []fact {
	r, d, m := f.run, f.run.Data, f.run.Machine
	data := fmt.Sprintf("%s. %s, %s, %s.", d.Source, several(d.Files, "file"), byteSize(float64(d.Bytes)), several(int(d.Lines), "line"))
	out := []fact{
		{"Data", data},
		{"Records", fmt.Sprintf("%s distinct; %s quarantined. Subset %s.", count(d.Records), several(int(d.Quarantined), "line"), d.Subset)},
		{"Digest", d.Digest},
		{"Machine", fmt.Sprintf("%s · %s, %d usable by the client · %s memory · %s · %s%s", m.CPU, several(m.Threads, "thread"), m.UsableCPUs, byteSize(float64(m.Memory)), m.OS, m.Kernel, virtual(m))},
		{"Disk", fmt.Sprintf("%s, %s of %s free · load average before the run %.2f", m.Disk.Type, byteSize(float64(m.Disk.Free)), byteSize(float64(m.Disk.Total)), m.Load[0])},
		{"Barograph", fmt.Sprintf("%s · %s %s", r.Version, m.Go, m.Arch)},
	}
	if len(m.Unknown) > 0 {
		out = append(out, fact{"Not known", strings.Join(m.Unknown, "; ")})
	}
	if servers := f.servers(); servers != "" {
		out = append(out, fact{"Servers", servers})
	}
	reps := several(r.Reps, "repetition")
	if r.Planned > 0 {
		reps = fmt.Sprintf("%d of %d planned repetitions", r.Reps, r.Planned)
	}
	reps += fmt.Sprintf(" of each cell, after %s", several(r.Warmups, "warm-up"))
	if !r.Ended.IsZero() {
		reps += "; the run took " + elapsed(r.Ended.Sub(r.Started))
	}
	return append(out, fact{"Repetitions", reps})
}

// servers says how each server was started; "" where there is none.
func (f *folder) servers() string {
	var out []string
	seen := map[string]bool{}
	for _, a := range f.run.Archives {
		if a.Place != "server" || seen[a.Engine+" "+a.URL] {
			continue
		}
		seen[a.Engine+" "+a.URL] = true
		out = append(out, a.Engine+": "+serverInWords(a.Server))
	}
	return strings.Join(out, " · ")
}

func serverInWords(s *run.Server) string {
	if s == nil {
		return "not started by this machine’s lab; what it says of itself is below"
	}
	words := fmt.Sprintf("%s, profile %s", several(s.Nodes, "node"), s.Profile)
	var changed []string
	for _, k := range slices.Sorted(maps.Keys(s.Settings)) {
		changed = append(changed, k+"="+s.Settings[k])
	}
	if len(changed) > 0 {
		words += " (" + strings.Join(changed, ", ") + ")"
	}
	i := s.Isolation
	if i == nil {
		return words + ", sharing this machine’s cores, memory and loopback with the client"
	}
	words += ", each in a network namespace and a control group of its own"
	if i.CPUs > 0 {
		words += ", " + number(i.CPUs) + " cores"
	}
	if i.Memory > 0 {
		words += ", " + byteSize(float64(i.Memory))
	}
	if i.Latency > 0 {
		words += ", " + elapsed(i.Latency) + " added to each packet"
	}
	return words
}

func virtual(m measure.Machine) string {
	if m.Virtual == "" {
		return ""
	}
	return " · virtual (" + m.Virtual + ")"
}

func (f *folder) engineTable() table {
	t := table{Head: []column{{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "product", Text: true}, {Name: "place", Text: true}, {Name: "URL", Text: true, Wrap: true}, {Name: "settings", Text: true, Wrap: true}}}
	for _, a := range f.run.Archives {
		var settings []string
		for _, k := range slices.Sorted(maps.Keys(a.Settings)) {
			settings = append(settings, k+"="+a.Settings[k])
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(a.Engine), text(a.Design), text(strings.TrimSpace(a.Product + " " + a.Version)), text(a.Place), text(a.URL), text(strings.Join(settings, ", "))}})
	}
	return t
}

func (f *folder) typeTable() table {
	t := table{Head: []column{{Name: "line type", Text: true}, {Name: "records"}}}
	for _, k := range slices.Sorted(maps.Keys(f.run.Data.ByType)) {
		n := f.run.Data.ByType[k]
		t.Rows = append(t.Rows, row{Cells: []cell{text(k), value(float64(n), count(n))}})
	}
	return t
}
