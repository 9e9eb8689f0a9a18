package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// study describes how a study's cells become rows and columns. A cell has a value on each of its axes. The axes of a
// configuration make the row, the others the column.
type study struct {
	name            string
	design, flavour string   // axes of a configuration
	more            []string // further axes of a configuration
	load            string   // the meaning of the load time of a configuration
}

// concurrent is the study of concurrent clients that a run of met includes.
const concurrent = "met, concurrent clients"

// studyOf returns the study of a run. Concurrent clients of met and of own tables are measured as mixes of operations.
func studyOf(r *run.Run) study {
	const loaded = "time to load all the data (s)"
	switch {
	case r.Workload == run.MixWorkload && r.Data.Digest != "":
		return study{name: concurrent, design: "layout", flavour: "mix", load: loaded}
	case r.Workload == run.MixWorkload:
		return study{name: "ycsb", design: "layout", more: []string{"nodes", "isolation", "acknowledged"}, load: loaded}
	case r.Workload == run.PostWorkload:
		return study{name: "post", design: "design", flavour: "method", more: []string{"posters", "together"}}
	case r.Workload == run.ScanWorkload:
		more := []string{"paths", "partitions", "workers"}
		return study{name: "scan", design: "design", more: more, load: "time of a load of the fact table (s)"}
	case r.Workload == run.OwnWorkload:
		return study{name: "scan own", design: "layout", load: loaded}
	case r.Workload == run.LakeWorkload:
		return study{name: "scan lake", more: []string{"partition", "mb"}}
	}
	return study{name: r.Workload, design: "design", flavour: "flavour", load: loaded}
}

// data returns a key that identifies the data and the work of a run, and its name for people.
func (s study) data(r *run.Run) (key, name string) {
	d := &r.Data
	key, name = d.Digest, d.Source
	switch {
	case r.Own != nil:
		type table struct {
			Name        string
			Bytes, Rows int64
		}
		var all []table
		var words []string
		for _, t := range r.Own.Tables {
			all, words = append(all, table{t.Name, t.Bytes, t.Rows}), append(words, t.Name)
		}
		key, name = digest(all), "tables "+strings.Join(words, ", ")
	case r.Scan != nil && r.Scan.Archive != nil:
		a := *r.Scan.Archive
		a.Subset = ""
		key = digest(a)
	case r.Scan != nil:
		key = digest([]any{r.Scan.Scale, r.Scan.Generator, r.Scan.Rows})
		name = fmt.Sprintf("%s, scale %g", cmp.Or(r.Scan.Generator, "star schema"), r.Scan.Scale)
	case s.name == concurrent:
		var all []string
		for _, c := range r.Cases {
			all = append(all, c.Name+c.Digest)
		}
		key, name = digest([]any{d.Digest, all}), run.CountOf(len(all), "case")+" by concurrent clients"
	case s.name == "ycsb":
		p := properties(r.Args)
		key, name = digest([]any{d.Records, p}), strings.Join(p, ", ")
	case s.name == "post":
		key, name = digest([]any{d.Source, d.Decoded, r.Policy}), d.Source+", policy "+cmp.Or(r.Policy, "not recorded")
	case key == "":
		key = digest([]any{d.Files, d.Bytes, d.Lines, d.Records})
	}
	key, _, _ = strings.Cut(key, "/")
	if d.Records > 0 {
		name = strings.TrimPrefix(name+", "+run.CountOf(d.Records, "record"), ", ")
	}
	return key[:min(len(key), 12)], cmp.Or(name, "data without a description")
}

// digest returns the digest of a value's JSON.
func digest(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		text = fmt.Append(nil, v)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// properties returns the properties of a YCSB workload that change its work, as name=value. The others name a table, or
// limit how long the work takes.
func properties(args []string) (out []string) {
	others := []string{"table", "operationcount", "warmup", "maxexecutiontime", "threadcount", "recordcount"}
	for i, a := range args[:max(0, len(args)-1)] {
		name, _, _ := strings.Cut(args[i+1], "=")
		if a == "-p" && !slices.Contains(others, name) {
			out = append(out, args[i+1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// phrases contains a description of a value of each axis. The value of an axis that is absent here follows the name of
// the axis. An axis with an empty phrase is not described.
var phrases = map[string]string{ //nolint:gochecknoglobals // a constant table
	"case": "%s", "query": "%s", "mix": "%s", "test": "%s", "scenario": "%s", "day": "%s",
	"during": "node failure during %s: node ready again", "threads": "%s threads", "target_ops_s": "target %s ops/s",
	"posters": "%s clients", "together": "%s messages per transaction", "nodes": "%s nodes", "acknowledged": "",
	"paths": "%s paths", "partitions": "%s partitions", "workers": "%s workers",
	"partition": "partitioned by %s", "mb": "files of %s MB",
}

// onePlural matches the number 1 before a noun in the plural.
var onePlural = regexp.MustCompile(`^1 (\w+)s( |$)`)

// describe returns the phrases of values.
func describe(names, values []string) string {
	var out []string
	for i, n := range names {
		p, ok := phrases[n]
		switch {
		case ok && strings.Contains(p, "%s"):
			p = fmt.Sprintf(p, values[i])
			if values[i] == "1" {
				p = onePlural.ReplaceAllString(p, "1 $1$2")
			}
		case !ok:
			p = n + " " + values[i]
		}
		if p != "" && values[i] != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}

// question returns the key and the name of a cell's question.
func (s study) question(c run.Cell) (key, name string) {
	var names, values []string
	axes, axisValues := c.Axes()
	for i, n := range axes {
		if n != s.design && n != s.flavour && !slices.Contains(s.more, n) {
			names, values = append(names, n), append(values, axisValues[i])
		}
	}
	name = describe(names, values)
	if s.name == concurrent { // also "1 thread"
		name = strings.Replace(name, "thread", "client", 1)
	}
	return strings.Join(names, "|") + "|" + strings.Join(values, "|"), name
}

// config returns the design and the flavour of a cell, and the values of its further axes as a key and as a label for
// people.
func (s study) config(c run.Cell) (design, flavour, more, label string) {
	var names, values []string
	axes, axisValues := c.Axes()
	for i, n := range axes {
		if slices.Contains(s.more, n) {
			names, values = append(names, n), append(values, axisValues[i])
		}
	}
	return c.Value(s.design), c.Value(s.flavour), strings.Join(values, "|"), describe(names, values)
}

// costOf returns the load time in seconds and the size of a configuration; 0 = those of its archive.
func costOf(r *run.Run, c run.Cell) (load float64, bytes int64) {
	if r.Scan != nil && c.Workload == run.ScanWorkload && len(r.Archives) > 0 {
		if i := r.ConfigIndex(c); i >= 0 {
			x := &r.Scan.Configs[i]
			return x.Load.Seconds() / float64(max(x.Loads, 1)), lists.Sum(slices.Values(x.Bytes))
		}
	}
	if r.Lake != nil {
		for _, l := range r.Lake.Layouts {
			if l.Partition == c.Value("partition") && l.FileMB == c.Number("mb") {
				return 0, l.Bytes
			}
		}
	}
	return 0, 0
}

// queryOf returns the text of a cell's query and its plan, from run.json.
func queryOf(r *run.Run, c run.Cell) string {
	if r.Own != nil {
		for _, q := range r.Own.Questions {
			if q.Name == c.Value("query") {
				return cmp.Or(q.Texts[c.Engine], q.Texts[""])
			}
		}
	}
	if r.Scan != nil && c.Workload == run.ScanWorkload && len(r.Archives) > 0 {
		if i := r.ConfigIndex(c); i >= 0 {
			for _, p := range r.Scan.Configs[i].Plans {
				if p.Query == c.Value("query") {
					return p.Text + planSeparator + p.Plan
				}
			}
		}
	}
	return ""
}

// ownQuestion returns the title of a question about own tables, and a digest of its texts, because users of different
// runs may give different questions the same name.
func ownQuestion(r *run.Run, c run.Cell) (title, identity string) {
	if r.Own != nil {
		for _, q := range r.Own.Questions {
			if q.Name == c.Value("query") {
				return q.Title, digest(cmp.Or(q.Texts[""], fmt.Sprint(q.Texts)))
			}
		}
	}
	return "", ""
}

// valueOf returns the value by which results of a cell are compared; 0 = none was measured. moreIsBetter is true for
// rates. A mix with a target rate is compared by its response time, because every engine that sustains the rate has the
// same throughput.
func valueOf(c run.Cell, m *run.Measured) (v float64, unit string, moreIsBetter bool) {
	m = cmp.Or(m, &run.Measured{})
	switch mix := cmp.Or(m.Mix, &run.Mix{}); {
	case c.Workload == run.PostWorkload:
		return cmp.Or(m.Posting, &run.Posting{}).Rate(), "values/s", true
	case c.Workload == run.MixWorkload && c.Number("target_ops_s") > 0:
		return mix.Response.P95.Seconds() * 1e3, "ms, p95", false
	case c.Workload == run.MixWorkload:
		return mix.Throughput, "ops/s", true
	case c.Workload == "faults":
		return m.Total.Seconds(), "s", false
	}
	return m.Total.Seconds() * 1e3, "ms", false
}
