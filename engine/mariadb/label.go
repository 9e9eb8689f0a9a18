package mariadb

import (
	"context"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
)

// noGroup is the group that METdbLoad does not store.
const noGroup = "NO GROUP"

// Label stores what METviewer's menus show, as METdbLoad does after a load: one row of metadata,
// and a row of instance_info for each load.
func (a *openArchive) Label(ctx context.Context, subset string, l archive.Label) error {
	if a.Design != design.Normalized {
		return nil
	}
	exec := querier{a.db.writes}.Exec
	if l.Group != "" && l.Group != noGroup && l.Description != "" {
		metadata := a.table(subset, "metadata")
		n, err := sqlengine.QueryNumber(ctx, a.Pool, "SELECT count(*) FROM "+metadata)
		text := "UPDATE " + metadata + " SET category = ?, description = ?"
		if n == 0 {
			text = "INSERT INTO " + metadata + " (category, description) VALUES (?, ?)"
		}
		if err == nil {
			err = exec(ctx, text, latin(l.Group, 30), latin(l.Description, 300))
		}
		if err != nil {
			return err
		}
	}
	if l.XML == "" {
		return nil
	}
	info := a.table(subset, "instance_info")
	return exec(ctx, "INSERT INTO "+info+" SELECT coalesce(max(instance_info_id) + 1, 0), ?, now(), ?, ? FROM "+info,
		latin(l.User, 64), latin(l.Note, 2048), latin(l.XML, 65535))
}

// latin returns a text as METviewer's columns can store it: in latin1, and of at most width characters.
func latin(s string, width int) string {
	out := []rune(strings.Map(func(r rune) rune {
		if r > 0xff || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s))
	return string(out[:min(len(out), width)])
}
