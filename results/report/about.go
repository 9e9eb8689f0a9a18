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
	machine := fmt.Sprintf("%s · %s, %d usable by the client · %s memory · %s · %s",
		m.CPU, several(m.Threads, "thread"), m.UsableCPUs, byteSize(float64(m.Memory)), m.OS, m.Kernel)
	if m.Virtual != "" {
		machine += " · virtual (" + m.Virtual + ")"
	}
	disk := fmt.Sprintf("%s, %s of %s free · load average before the run %.2f",
		m.Disk.Type, byteSize(float64(m.Disk.Free)), byteSize(float64(m.Disk.Total)), m.Load[0])
	out := []Fact{{"Machine", machine}, {"Disk", disk}}
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
	version := fmt.Sprintf("%s · %s %s", r.Version, r.Machine.Go, r.Machine.Arch)
	out := append(machineFacts(r.Machine), Fact{"Barograph", version})
	var servers []string
	for _, a := range r.Archives {
		if a.Place == "server" {
			servers = appendNew(servers, a.Engine+": "+serverInWords(a.Server))
		}
	}
	if len(servers) > 0 {
		out = append(out, Fact{"Servers", strings.Join(servers, " · ")})
	}
	return append(out, skippedFacts(r)...)
}

// skippedFacts names the engines of the default set that are not installed, and how to install them.
func skippedFacts(r *run.Run) []Fact {
	skipped := lists.Map(r.Skipped, func(s fault.Skip) string {
		return fmt.Sprintf("%s: %s (%s)", s.Engine, s.Reason, s.Cure)
	})
	if len(skipped) == 0 {
		return nil
	}
	return []Fact{{"Not included", strings.Join(skipped, " · ")}}
}

// settings lists settings as name=value, sorted by name.
func settings(values map[string]string) string {
	names := slices.Sorted(maps.Keys(values))
	return strings.Join(lists.Map(names, func(name string) string { return name + "=" + values[name] }), ", ")
}

// engineTable lists the engines of a run with their versions and settings.
func engineTable(r *run.Run) *Table {
	designColumn := "design"
	if r.Workload == run.MixWorkload {
		designColumn = "layout"
	}
	t := table("engine", designColumn, "product", "place", "URL", "an acknowledged write", "settings")
	for _, a := range r.Archives {
		product := strings.TrimSpace(a.Product + " " + a.Version)
		t.add("", texts(a.Engine, a.Design, product, a.Place, a.URL, acknowledged(&a), settings(a.Settings))...)
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
