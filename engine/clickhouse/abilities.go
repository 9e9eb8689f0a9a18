package clickhouse

import (
	"context"
	"errors"

	"github.com/barograph/barograph/engine/tables"
)

// offers lists what a database can do besides archives.
func offers() []any {
	return []any{tables.Offer{tables.OwnTables, tables.StarOverDisks, tables.ObjectStore}}
}

// abilities returns the abilities of an open database.
func (d *database) abilities() []any {
	return []any{&tables.Databases{Star: scans{d}, Own: d.openOwn, Lake: d.lake}}
}

// separateDatabase creates a ClickHouse database, separate from the archive's, and returns a pool whose sessions use it
// and have run the settings, which are statements.
func (d *database) separateDatabase(ctx context.Context, name string, settings ...string) (*pool, error) {
	if err := d.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+name); err != nil {
		return nil, err
	}
	return &pool{connect: func(ctx context.Context) (session, error) {
		s, err := d.connect(ctx)
		if err != nil {
			return nil, err
		}
		for _, text := range append([]string{"USE " + name}, settings...) {
			if err := s.query(ctx, text, nil); err != nil {
				return nil, errors.Join(err, s.close())
			}
		}
		return s, nil
	}}, nil
}
