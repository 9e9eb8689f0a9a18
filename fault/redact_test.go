package fault

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for _, text := range []string{
		"postgres://me:MARK@host/db", "x://me:MARK@host:bad/db", "redis://:MARK@host", "postgres://me:12/MARK#?MARK@host/db",
		"mongodb://me:MA@MARK@a:1,b:2/db", "mongodb:x?tlsCertificateKeyFilePassword=MARK&y=1", `parse "postgres://me:MARK@h%zz": invalid`,
		"me:MARK@tcp(host:3306)/db", "postgres:me:MARK@host", "host=h password=MARK user=u", "password = 'MA RK'",
		`{"net":{"certificateKeyFilePassword":"MA\"RK"}}`, "--setting=requirepass=MARK", "db.passwd=MARK", "oracle:x?sid=x%3A%2F%2Fme%3AMARK%40host", `primary_conninfo = 'host=x password=MARK'`, "kill:MARK@host",
	} {
		if got := Redact(text); strings.Contains(got, "MARK") || strings.Contains(got, "RK") || !strings.Contains(got, hidden) {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	for _, text := range []string{
		"duckdb:a b@c.db", "postgres://host:5432/db?sslmode=disable", "tlsCertificateKeyFile=/etc/key.pem", "a.vsdb:12: no lead; x@y",
		"12:30:45 level=ERROR msg=gone", "SELECT a FROM t WHERE b = 'x' AND key = 3", "the password: is wrong", "no user me@host",
		"slow:node2:5ms@20s", "--fault=slow:5ms@1s,fast@2s,power-off:2@3s", "kill:node2@20s", "bandwidth:node2:0.5gbit@1.5s", "--fault=bandwidth:10mbit@1s,full-bandwidth@2s,delay:5ms@3s,no-delay:2@4s", "--fault=kill:node2@20s,restart@40s", `"kill:2@1.5s,restart:node2@3s,stop:1@500ms,resume@4s"`,
	} {
		if got := Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	if RedactValue("requirepass", "MARK") != hidden || RedactValue("url", "x://a:MARK@h") == "x://a:MARK@h" || RedactValue("cache", "2") != "2" {
		t.Error("RedactValue")
	}
}
