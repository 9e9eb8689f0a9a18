package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// machineFacts describes the client's machine.
func machineFacts(m measure.Machine) []Fact {
	words := fmt.Sprintf("%s · %s, %d usable by the client · %s memory · %s · %s", m.CPU, several(m.Threads, "thread"), m.UsableCPUs, byteSize(float64(m.Memory)), m.OS, m.Kernel)
	if m.Virtual != "" {
		words += " · virtual (" + m.Virtual + ")"
	}
	out := []Fact{
		{"Machine", words},
		{"Disk", fmt.Sprintf("%s, %s of %s free · load average before the run %.2f", m.Disk.Type, byteSize(float64(m.Disk.Free)), byteSize(float64(m.Disk.Total)), m.Load[0])},
	}
	if len(m.Unknown) > 0 {
		out = append(out, Fact{"Not known", strings.Join(m.Unknown, "; ")})
	}
	return out
}

// dataFacts describes a run into which files were loaded; data describes the files.
func dataFacts(r *run.Run, data string) []Fact {
	d := &r.Data
	return append([]Fact{
		{"Data", data},
		{"Records", fmt.Sprintf("%s distinct; %s quarantined. Subset %s.", count(d.Records), several(int(d.Quarantined), "line"), d.Subset)},
		{"Digest", d.Digest},
	}, runFacts(r)...)
}

// runFacts returns what a reader needs to judge any run with archives.
func runFacts(r *run.Run) []Fact {
	out := append(machineFacts(r.Machine), Fact{"Barograph", fmt.Sprintf("%s · %s %s", r.Version, r.Machine.Go, r.Machine.Arch)})
	var servers []string
	for _, a := range r.Archives {
		if words := a.Engine + ": " + serverInWords(a.Server); a.Place == "server" && !slices.Contains(servers, words) {
			servers = append(servers, words)
		}
	}
	if len(servers) > 0 {
		out = append(out, Fact{"Servers", strings.Join(servers, " · ")})
	}
	return append(out, skippedFacts(r)...)
}

// skippedFacts name the engines of the default set that are not installed, and how to install them.
func skippedFacts(r *run.Run) []Fact {
	skipped := lists.Map(r.Skipped, func(s fault.Skip) string { return fmt.Sprintf("%s: %s (%s)", s.Engine, s.Reason, s.Cure) })
	if len(skipped) == 0 {
		return nil
	}
	return []Fact{{"Not included", strings.Join(skipped, " · ")}}
}

func serverInWords(s *run.Server) string {
	if s == nil {
		return "not started by the lab of this machine; its own description follows"
	}
	words := fmt.Sprintf("%s, profile %s", several(s.Nodes, "node"), s.Profile)
	if len(s.Settings) > 0 {
		words += " (" + settings(s.Settings) + ")"
	}
	i := s.Isolation
	if i == nil {
		return words + ", on the same machine as the client: they share cores, memory and loopback"
	}
	words += ", each with its own network namespace and control group"
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

// settings lists names with their values.
func settings(values map[string]string) string {
	names := slices.Sorted(maps.Keys(values))
	return strings.Join(lists.Map(names, func(name string) string { return name + "=" + values[name] }), ", ")
}

func engineTable(r *run.Run) *Table {
	second := "design"
	if r.Workload == run.MixWorkload {
		second = "layout"
	}
	t := table("engine", second, "product", "place", "URL", "an acknowledged write", "settings")
	for _, a := range r.Archives {
		t.add("", texts(a.Engine, a.Design, strings.TrimSpace(a.Product+" "+a.Version), a.Place, a.URL, acknowledged(&a), settings(a.Settings))...)
	}
	return t
}

// acknowledged describes what an acknowledged write guarantees.
func acknowledged(a *run.Archive) string {
	return cmp.Or(a.Acknowledged, "not reported")
}

// commandLine quotes arguments as a POSIX shell needs them.
func commandLine(args []string) string {
	var out []string
	if len(args) == 0 || !strings.HasSuffix(args[0], "barograph") {
		out = append(out, "barograph")
	}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$&|;<>()*?[]#~`!{}") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}
