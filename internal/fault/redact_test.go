package fault

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for _, text := range []string{
		"postgres://me:MARK@host/db", "x://me:MARK@host:bad/db", "redis://:MARK@host", "postgres://me:12/MARK#?MARK@host/db",
		"mongodb://me:MA@MARK@a:1,b:2/db", "mongodb:x?tlsCertificateKeyFilePassword=MARK&y=1", `parse "postgres://me:MARK@h%zz": invalid`,
		"me:MARK@tcp(host:3306)/db", "postgres:me:MARK@host", "host=h password=MARK user=u", "password = 'MA RK'",
		`{"net":{"certificateKeyFilePassword":"MA\"RK"}}`, "--setting=requirepass=MARK", "db.passwd=MARK", "oracle:x?sid=x%3A%2F%2Fme%3AMARK%40host", `primary_conninfo = 'host=x password=MARK'`, "kill:MARK@host",
		"postgres://me:MA RK@host/db", "cannot open mariadb://me:MA\tRK@host:3306/db: refused", `parse "mongodb://me:MA\"RK@h": invalid`, `couchbase://me:MA"RK@h`, "a=postgres://me:MA RK@h b=x://h/y",
	} {
		if got := Redact(text); strings.Contains(got, "RK") || !strings.Contains(got, hidden) {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	for _, text := range []string{
		"duckdb:a b@c.db", "postgres://host:5432/db?sslmode=disable", "tlsCertificateKeyFile=/etc/key.pem", "a.vsdb:12: no lead; x@y",
		"12:30:45 level=ERROR msg=gone", "SELECT a FROM t WHERE b = 'x' AND key = 3", "the password: is wrong", "no user me@host",
		"slow:node2:5ms@20s", "--fault=slow:5ms@1s,fast@2s,power-off:2@3s", "kill:node2@20s", "--fault=kill:node2@1m0s,restart:node2@1m20s", "slow:node1:500µs@20s,fast@1h0m0s", "slow:1.5ms@1m0.5s", "bandwidth:node2:0.5gbit@1.5s", "--fault=bandwidth:10mbit@1s,full-bandwidth@2s,delay:5ms@3s,no-delay:2@4s", "--fault=kill:node2@20s,restart@40s", `"kill:2@1.5s,restart:node2@3s,stop:1@500ms,resume@4s"`,
	} {
		if got := Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	for _, text := range []string{"no host in x://\nno role a b@c", "write it as x:// user:@host", "x://me@h%zz/db", "x://@h%zz/db", "x://50%@host: no role a@b", "postgres://host:5432/db: no role me@host", "mysql://me@host: Access denied for user 'me'@'host'", "http://h:1/ and http://[::1]:2: x@y"} {
		if got := Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	if RedactValue("requirepass", "MARK") != hidden || RedactValue("url", "x://a:MARK@h") == "x://a:MARK@h" || RedactValue("cache", "2") != "2" {
		t.Error("RedactValue")
	}
}

// TestSecretsOfACommandLine prints passwords as drivers quote them, in texts where their end is not
// recognizable.
func TestSecretsOfACommandLine(t *testing.T) {
	for _, password := range []string{"MA RK", "MA\tRK", `MA"RK`, "MA'RK", "MA@R K", "12/MA RK", "MA%20RK"} {
		var b bytes.Buffer
		w := Redacting(&b, "show", "--engine=twin=postgres://me:"+password+"@host/db", "x?tlsKeyPassword="+password+"&y=1")
		plain := strings.ReplaceAll(password, "%20", " ")
		fmt.Fprintf(w, "open postgres://me:%s@host/db: %s, %q, (%s)\n", password, password, plain, plain)
		if strings.Contains(b.String(), "RK") || strings.Contains(b.String(), "R K") {
			t.Errorf("%q is printed: %s", password, b.String())
		}
	}
}

// TestRedactArgs: the first = of an argument may belong to a flag, to a parameter of a URL or to a password.
func TestRedactArgs(t *testing.T) {
	for arg, want := range map[string]string{
		"postgres://me:MARK@h/db?sslmode=require":               "postgres://me:xxxxx@h/db?sslmode=require",
		"--engine=postgres://me:MARK@h/db?sslmode=require":      "--engine=postgres://me:xxxxx@h/db?sslmode=require",
		"twin=postgres://me:MARK@h/db?sslmode=require":          "twin=postgres://me:xxxxx@h/db?sslmode=require",
		"--engine=twin=postgres://me:MARK@h/db?sslmode=require": "--engine=twin=postgres://me:xxxxx@h/db?sslmode=require",
		"postgres://me:MA=RK@h/db?sslmode=require":              "postgres://me:xxxxx@h/db?sslmode=require",
		"postgres://me:MA RK=@h/db?sslmode=require":             "postgres://me:xxxxx@h/db?sslmode=require",
		"--engine=postgres://me:MA RK@h/db?sslmode=require":     "--engine=postgres://me:xxxxx@h/db?sslmode=require",
		"mariadb:me:MA=RK@h:3306/db":                            "mariadb:xxxxx@h:3306/db",
		"couchbase://h/db?password=MARK&tls=true":               "couchbase://h/db?password=xxxxx&tls=true",
		"--engine=trino://h:1/?s3_secret_key=MARK&s3_region=a":  "--engine=trino://h:1/?s3_secret_key=xxxxx&s3_region=a",
		"db.passwd=MARK & MARK":                                 "db.passwd=xxxxx",
		"--property=password=MA RK":                             "--property=password=xxxxx",
		"--property=password=M'":                                "--property=password=xxxxx",
		"--setting=requirepass=MA;RK":                           "--setting=requirepass=xxxxx",
		"--where=model=GFS":                                     "--where=model=GFS",
		"duckdb:a.db?cache=2":                                   "duckdb:a.db?cache=2",
		"--fault=kill:node2@20s":                                "--fault=kill:node2@20s",
	} {
		if got := RedactArgs([]string{"load", "a.stat", arg}); len(got) != 3 || got[2] != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
	// A password with a blank is hidden in the other arguments, too.
	if got := RedactArgs([]string{"--note", "it is MA RK", "x://me:MA RK@h"}); strings.Contains(strings.Join(got, " "), "RK") {
		t.Errorf("%q", got)
	}
}

// A secret of three letters is hidden wherever it occurs. A shorter one is not, because ordinary words contain it.
func TestShortSecrets(t *testing.T) {
	for password, want := range map[string]string{"a b": "refused: xxxxx is xxxxx2\n", "a ": "refused: a b is a b2\n"} {
		var b bytes.Buffer
		fmt.Fprint(Redacting(&b, "postgres://me:"+password+"@host/db"), "refused: a b is a b2\n")
		if got := b.String(); got != want {
			t.Errorf("%q: %q, want %q", password, got, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	for _, raw := range []string{"postgres://me:MA RK@h/db", "postgres://me:12/MA RK@h/db", "x://me:12#MARK@h", "x://me:12?MARK@h", "x://me:MA\"RK@h", "x://me:%zzMARK@h", "me MARK:x\t@h", "MARK%zz", "MA RK://\x00", "x://me:12?MA;RK@h", "x://me:12?MA;RK=1@h", "x://me:12?a=1&MA;RK=c@h", "x://me:a@b?MA;RK@h", "x://me@h/db?MA=%zz@", "x://me@h/db?a=1&MA=%zz@"} {
		if u, err := ParseURL(raw); err == nil || strings.Contains(err.Error(), "MA") || strings.Contains(err.Error(), "RK") {
			t.Errorf("ParseURL(%q) = %v, %v", raw, u, err)
		}
	}
	for _, raw := range []string{"duckdb:a b@c.db", "duckdb:///a@b.db", "postgres://me:a%20b@h/db?socket=/a@b", "x://h/db?y=a@b", "x://h/db?y=%3B%25%23", "x:", "x:?a", "x://h/db?a&b=1", "x://h/db#"} {
		if _, err := ParseURL(raw); err != nil {
			t.Errorf("ParseURL(%q): %v", raw, err)
		}
	}
}

// TestParametersThatWouldBeDropped: url.Query drops a parameter with a semicolon or an incomplete escape, and a # ends
// the parameters. The error names the parameter, and shows neither its value nor the password.
func TestParametersThatWouldBeDropped(t *testing.T) {
	for raw, want := range map[string]string{
		"mariadb://me:MARK@host/db?tls=true;tls_ca=/MARK.pem": "URL mariadb:xxxxx, parameter tls contains a semicolon",
		"valkey://host?batch=2&tls_ca=/etc/100%.MARK":         "URL valkey:xxxxx, parameter tls_ca contains a semicolon, or a % without",
		"mariadb://me:MARK@host/db#x?tls=true":                "URL mariadb:xxxxx contains a #",
		"mariadb:?a%=MARK":                                    "URL mariadb:xxxxx, parameter a% contains",
		"mariadb://me@h/db?MARK=%zz@#x":                       "URL mariadb:xxxxx cannot be parsed", // the # may belong to a password
		"mariadb://me@h/db?a=1&MARK=%zz@#x":                   "URL mariadb:xxxxx cannot be parsed",
	} {
		u, err := ParseURL(raw)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "MARK") {
			t.Errorf("ParseURL(%q) = %v, %v; want %s", raw, u, err, want)
		}
	}
}
