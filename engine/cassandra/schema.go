package cassandra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// own are the tables of what belongs to a subset besides its records.
var own = []struct{ name, columns string }{ //nolint:gochecknoglobals // a constant list
	{"heads", `design text, subset text, next bigint, version bigint, bad set<bigint>, catalog bigint, bytes bigint, PRIMARY KEY ((design, subset))`},
	{"catalogs", `design text, subset text, commit_number bigint, catalog text, PRIMARY KEY ((design, subset), commit_number)`},
	{"marks", `design text, subset text, commit_number bigint, number int, mark text, PRIMARY KEY ((design, subset), commit_number, number)`},
	{"partitions", `design text, subset text, line_type text, bucket int, name text, year int, PRIMARY KEY ((design, subset, line_type, bucket), name, year)`},
}

// buckets over which the partitions of a line type are listed.
const buckets = 16

// prepare makes the keyspace, and what is missing of own. A keyspace that is
// opened read-only may lack them: then nothing was ever loaded.
func (s *store) prepare(ctx context.Context) error {
	var name string
	err := s.session.Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", s.keyspace).ScanContext(ctx, &name)
	missing := errors.Is(err, gocql.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if s.readOnly {
		if missing {
			return &fault.Error{Setting: "keyspace " + s.keyspace, Problem: "does not exist", Err: engine.ErrUnreachable, Cure: "load an archive into it first"}
		}
		err = s.session.Query("SELECT next FROM " + s.keyspace + ".heads LIMIT 1").ExecContext(ctx)
		if s.bare = absent(err); s.bare {
			return nil
		}
		return err
	}
	if missing {
		statement := "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}"
		if err := s.change(ctx, fmt.Sprintf(statement, s.keyspace, s.replication)); err != nil {
			return err
		}
	}
	for _, t := range own {
		table := s.keyspace + "." + t.name
		if err := s.create(ctx, table, "CREATE TABLE IF NOT EXISTS "+table+" ("+t.columns+")"); err != nil {
			return err
		}
	}
	return nil
}

// absent reports whether the server knows no such table or keyspace.
func absent(err error) bool {
	var refused gocql.RequestError
	return errors.As(err, &refused) && refused.Code() == gocql.ErrCodeInvalid
}

// schemaPatience is how long a table that was made may be unknown, and
// schemaPause how long it is waited before it is asked for again.
const (
	schemaPatience = 30 * time.Second
	schemaPause    = 20 * time.Millisecond
)

// create makes a table unless it is there, and returns when every node that is
// up serves it.
func (s *store) create(ctx context.Context, table, statement string) error {
	s.mu.Lock()
	made := s.made[table]
	s.mu.Unlock()
	if made {
		return nil
	}
	served, err := s.served(ctx, table)
	if err == nil && !served {
		if err = s.change(ctx, statement); err == nil {
			err = s.await(ctx, table)
		}
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", table, failed(ctx, err))
	}
	s.mu.Lock()
	s.made[table] = true
	s.mu.Unlock()
	return nil
}

// await waits until a table is served.
func (s *store) await(ctx context.Context, table string) error {
	for until := time.Now().Add(schemaPatience); time.Now().Before(until); {
		served, err := s.served(ctx, table)
		if err != nil || served {
			return err
		}
		if err := engine.Pause(ctx, schemaPause); err != nil {
			return err
		}
	}
	return fmt.Errorf("some nodes do not know it %v after it was made", schemaPatience)
}

// served reports whether every node that is up can be asked for a table. That
// system_schema lists it does not mean that: the list is ahead of the server.
func (s *store) served(ctx context.Context, table string) (bool, error) {
	for _, h := range s.up() {
		err := s.session.Query("SELECT * FROM " + table + " LIMIT 1").Consistency(gocql.One).SetHostID(h.HostID()).ExecContext(ctx)
		if absent(err) || ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return true, nil
}

// up are the nodes that are up, in the order of their ids.
func (s *store) up() []*gocql.HostInfo {
	hosts := slices.DeleteFunc(s.session.GetHosts(), func(h *gocql.HostInfo) bool { return !h.IsUp() })
	slices.SortFunc(hosts, func(a, b *gocql.HostInfo) int { return cmp.Compare(a.HostID(), b.HostID()) })
	return hosts
}

// change makes a table through the first node that answers. A node changes the
// schema once at a time; two nodes that made one table at the same moment would
// give it two ids, which Cassandra before 6 does not mend. All clients choose
// the same node.
func (s *store) change(ctx context.Context, statement string) error {
	err := error(gocql.ErrNoConnections)
	for _, h := range s.up() {
		err = s.session.Query(statement).SetHostID(h.HostID()).ExecContext(ctx)
		var answered gocql.RequestError
		if err == nil || errors.As(err, &answered) || ctx.Err() != nil {
			return err
		}
	}
	return err
}
