package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdoptPrivileges adopts a database as a user who has exactly the privileges that the manual lists for it. A user
// who lacks one of them changes nothing in the database.
func TestAdoptPrivileges(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "adopt.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(page), "| `adopt --repair`, `adopt --forget` | ")
	privileges, _, ok := strings.Cut(row, ", and the same on")
	if !ok {
		t.Fatal("the manual has no row of the privileges of adopt --repair")
	}
	server := sharedServer(t, "mariadb")
	sql := func(text string) string { return client(t, server, "mariadb ${to[@]} -N -e \""+text+"\"") }
	sql("DROP DATABASE IF EXISTS mv_rights; CREATE DATABASE mv_rights")
	client(t, server, "xz -dc '"+sharedData(t, "met/metdbload_site/mv_site_1.sql.xz")+"' | mariadb ${to[@]} mv_rights")
	user := func(name, privileges string) string {
		sql("CREATE OR REPLACE USER " + name + "@'%' IDENTIFIED BY 'p'")
		for _, database := range []string{"mv_rights", "barograph_new_mv_rights", "barograph_old_mv_rights"} {
			sql("GRANT " + privileges + " ON " + database + ".* TO " + name + "@'%'")
		}
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = url.UserPassword(name, "p"), "/mv_rights"
		return u.String()
	}
	sum := func() string { return client(t, server, "mariadb-dump ${to[@]} --skip-comments mv_rights | md5sum") }
	before := sum()
	for name, privilege := range map[string]string{"no_update": "UPDATE, ", "no_delete": "DELETE, ", "no_alter": "ALTER, "} {
		few := user(name, strings.Replace(privileges, privilege, "", 1))
		if status, _, stderr := barograph(t, "adopt", few, "--repair"); status == 0 || sum() != before {
			t.Errorf("%s: status %d, %s", name, status, stderr)
		}
	}
	all := user("adopter", privileges)
	must(t, "adopt", all, "--repair")
	must(t, "adopt", all, "--forget")
	sql("DROP DATABASE mv_rights; DROP USER no_update, no_delete, no_alter, adopter")
}
