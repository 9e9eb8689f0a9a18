package question

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"

	"github.com/goccy/go-yaml"
)

// YAML writes questions as a file that Parse reads. It omits fields that have their default.
func YAML(qs ...*Question) ([]byte, error) {
	var out bytes.Buffer
	to := yaml.NewEncoder(&out)
	for _, q := range qs {
		if err := to.Encode(q.yamlForm()); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), to.Close()
}

func (q *Question) yamlForm() *questionYAML {
	f := &questionYAML{
		Name: q.Name, Title: q.Title, Untitled: q.Untitled, Changed: q.Changed, Subset: q.Subset, MoreSubsets: q.MoreSubsets,
		LineType: q.Type.Name, Where: map[string]stringList{}, Valid: q.Valid.yamlForm(), Init: q.TimeFilter.Init.yamlForm(),
		ValidHour: q.TimeFilter.ValidHour, InitHour: q.TimeFilter.InitHour,
		Lead: FormatLeads(q.Lead), Mean: q.Mean, Omitted: q.Omitted, Refused: q.Refused, Drawing: newDrawingYAML(q),
	}
	if q.Weight > 1 {
		f.Weight = q.Weight
	}
	for i, values := range q.Header {
		if len(values) > 0 {
			f.Where[record.Field(i).String()] = values
		}
	}
	if q.Mean != "" {
		f.Columns = columnNames(q.GroupingColumns())
		return f
	}
	defaults := *q
	defaults.SelectColumns()
	if !slices.Equal(q.Columns, defaults.Columns) || !slices.Equal(q.Order, defaults.Order) {
		f.Columns, f.OrderBy = columnNames(q.Columns), columnNames(q.Order)
	}
	return f
}

func columnNames(cols []Column) []string {
	return lists.Map(cols, func(c Column) string { return c.Name })
}

func (t *Times) yamlForm() timesYAML {
	at := func(v int64) string {
		return strings.TrimSuffix(time.Unix(v, 0).UTC().Format(time.RFC3339), "T00:00:00Z")
	}
	var out timesYAML
	for _, v := range t.List {
		out.List = append(out.List, at(v))
	}
	if !t.IsAll() && t.List == nil {
		out.First, out.Last = at(t.First), at(t.Last)
	}
	if t.Step > 0 {
		out.Step = formatDuration(t.Step)
	}
	return out
}

// MarshalYAML writes times in the command line's form.
func (t timesYAML) MarshalYAML() (any, error) {
	if t.List != nil {
		return strings.Join(t.List, ","), nil
	}
	if t.Step != "" {
		t.Step = "/" + t.Step
	}
	return t.First + ".." + t.Last + t.Step, nil
}

// formatDuration writes seconds as 6h, 10m or 1h30m.
func formatDuration(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}

// FormatLeads writes leads in the form that questions accept: 0-240/6 in hours, or durations.
func FormatLeads(leads []int32) []string {
	var out []string
	for i := 0; i < len(leads); {
		n := 1
		for i+n < len(leads) && leads[i+n]-leads[i+n-1] == leads[i+1]-leads[i] {
			n++
		}
		if n > 2 && leads[i]%3600 == 0 && (leads[i+1]-leads[i])%3600 == 0 {
			out = append(out, fmt.Sprintf("%d-%d/%d", leads[i]/3600, leads[i+n-1]/3600, (leads[i+1]-leads[i])/3600))
			i += n
			continue
		}
		out = append(out, formatLead(leads[i]))
		i++
	}
	return out
}

func formatLead(seconds int32) string {
	if seconds%3600 == 0 {
		return strconv.Itoa(int(seconds / 3600))
	}
	return formatDuration(int64(seconds))
}
