package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// TestNodesAndClientTime compares an engine on one node with the same engine on three, and divides the client's time
// for a query by keys into its steps.
func TestNodesAndClientTime(t *testing.T) {
	r := &run.Run{Cases: []run.Case{{Name: "test_1", Rows: 10}}, Archives: []run.Archive{
		{Engine: "dry", Design: "memory", URL: "dry:", Place: "memory", Complete: true},
		{Engine: "one", Design: "keyvalue", URL: "valkey://127.0.0.1:1", Place: "server", Complete: true, Server: &run.Server{Nodes: 1}},
		{
			Engine: "three", Design: "keyvalue", URL: "valkey://127.0.0.1:2", Place: "server", Complete: true,
			Server: &run.Server{Nodes: 3, Isolation: &run.Isolation{}},
		},
		{Engine: "other", Design: "keyvalue", URL: "valkey://127.0.0.1:3", Place: "server", Complete: true, Server: &run.Server{Nodes: 3}},
		{Engine: "pebble", Design: "keyvalue", URL: "pebble:x", Place: "embedded", Complete: true},
	}}
	var samples []run.Sample
	for _, c := range []struct {
		engine, flavour string
		total, client   time.Duration
	}{
		{"dry", "recall", 1, 1},
		{"one", "keys-native", 20, 5},
		{"three", "keys-native", 10, 12},
		{"other", "keys-native", 40, 5},
		{"pebble", "keys-native", 2, 2},
	} {
		design := "keyvalue"
		if c.engine == "dry" {
			design = "memory"
		}
		for rep := range 7 {
			samples = append(samples, run.Sample{
				Cell: run.MetCell(c.engine, design, "test_1", c.flavour), Phase: run.Warm, Rep: rep,
			}.Judge(&run.Measured{
				Keys: 4, FirstRow: time.Millisecond, Total: c.total * time.Millisecond, CPU: c.client * time.Millisecond,
				Derive: 100 * time.Microsecond,
			}, proof(t, 10), nil))
		}
	}
	rs := collect(r, samples, nil)
	s := rs.summarise()
	table6 := rs.clusters(&s)
	if table6.Table == nil || len(table6.Table.Rows) != 2 {
		t.Fatalf("%+v", table6)
	}
	if got := table6.Table.Rows[0].Cells[0].Text; got != "valkey keyvalue keys-native: 1 node → 3" {
		t.Error(got)
	}
	if !strings.Contains(table6.Words[0].Text, "nodes of other shared this machine") ||
		!strings.Contains(table6.Words[0].Text, "The nodes of three had their own network namespaces") {
		t.Error(table6.Words[0].Text)
	}
	clientTime := rs.clientTime(&s)
	var got []string
	for _, row := range clientTime.Rows {
		var line []string
		for _, c := range row.Cells {
			line = append(line, c.Text)
		}
		got = append(got, strings.Join(line, " | "))
	}
	want := "[one · keyvalue · keys-native | test_1 | 4 | 0.100 | 15.0 | 4.00 | 1.00 | 1.00 " +
		"three · keyvalue · keys-native | test_1 | 4 | 0.100 | 0 | 11.0 | 1.00 | 1.00 " +
		"other · keyvalue · keys-native | test_1 | 4 | 0.100 | 35.0 | 4.00 | 1.00 | 1.00]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// TestUnknownNumberOfNodes: a server of which the run does not know the number of nodes is compared with no cluster.
func TestUnknownNumberOfNodes(t *testing.T) {
	r := &run.Run{Cases: []run.Case{{Name: "test_1", Rows: 10}}, Archives: []run.Archive{
		{Engine: "mine", Design: "wide", URL: "postgres://db/x", Place: "server", Complete: true},
		{Engine: "three", Design: "wide", URL: "postgres://127.0.0.1", Place: "server", Complete: true, Server: &run.Server{Nodes: 3}},
	}}
	var samples []run.Sample
	for _, engine := range []string{"mine", "three"} {
		s := run.Sample{Cell: run.MetCell(engine, "wide", "test_1", "sql"), Phase: run.Warm}
		samples = append(samples, s.Judge(&run.Measured{Total: time.Millisecond}, proof(t, 10), nil))
	}
	rs := collect(r, samples, nil)
	s := rs.summarise()
	if table6 := rs.clusters(&s); table6.Table != nil {
		t.Errorf("compared: %+v", table6.Table.Rows)
	}
}
