package report

import (
	"fmt"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// titlesOf returns a function that names the engine of a cell. The name contains the layout if the samples of the
// engine have several.
func titlesOf(samples []run.Sample) func(c run.Cell) string {
	layouts := map[string][]string{}
	for i := range samples {
		c := &samples[i].Cell
		layouts[c.Engine] = appendNew(layouts[c.Engine], c.Value("layout"))
	}
	return func(c run.Cell) string {
		if len(layouts[c.Engine]) > 1 {
			return c.Engine + " · " + c.Value("layout")
		}
		return c.Engine
	}
}

// ddlFacts names the scripts that created tables.
func ddlFacts(r *run.Run) []Fact {
	var all []string
	for _, a := range r.Archives {
		if t := a.Table; t != nil && t.DDLDigest != "" {
			all = appendNew(all, fmt.Sprintf("%s: %s (SHA-256 %s)", a.Engine, t.DDLFile, t.DDLDigest))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []Fact{{"DDL", strings.Join(all, " · ")}}
}

// tableSections returns the section of the tables, with the script of each table and the server's description.
func tableSections(r *run.Run) []Section {
	out := Section{
		ID: "tables", Title: "Tables", Small: "scripts, and descriptions by the servers",
		Words: say("Each server described its table before the runs: columns, indexes, partitions and storage."),
	}
	for _, a := range r.Archives {
		t := a.Table
		if t == nil {
			continue
		}
		name := t.Name
		if t.Schema != "" {
			name += ", in the schema " + t.Schema
		}
		s := Section{Title: a.Engine + " · " + a.Design, Small: name, Folded: true, Text: t.Definition}
		if t.DDLDigest != "" {
			s.Words = say("Created by %s, SHA-256 %s.", t.DDLFile, t.DDLDigest)
			s.Parts = []Section{{Title: "The script", Text: t.DDL}}
		}
		out.Parts = append(out.Parts, filled(s)...)
	}
	return filled(out)
}
