package asterixdb_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/barograph/barograph/engine/asterixdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
)

// TestScans runs the suite of the study scan on one node, and on three nodes that divide three disks among themselves.
func TestScans(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("nodes=%d", nodes), func(t *testing.T) {
			if nodes > 1 {
				enginetest.AtNight(t, "three nodes differ from one in where parts lie alone")
			}
			p := tables.Placement{Paths: enginetest.Disks(t, 3), Partitions: 4}
			d := &databases{server: enginetest.Lab(t, asterixdb.Driver(), lab.Options{Memory: memory, Nodes: nodes, Disks: p.Paths, Partitions: p.Partitions, Environment: quick})}
			scantest.Run(t, scantest.Config{Driver: asterixdb.Driver(), URL: func(t *testing.T) string { return d.url(t, "") }, Fixed: &p, Brief: nodes > 1})
			if err := d.server.Down(); err != nil {
				t.Fatal(err)
			}
			for _, path := range p.Paths {
				if in, err := os.ReadDir(path); err != nil || len(in) > 0 {
					t.Errorf("the lab left %v on %s, %v", in, path, err)
				}
			}
		})
	}
}
