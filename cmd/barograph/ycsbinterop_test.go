package main

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// yahooClasses names the variable with the class path of a real YCSB: its core, its JDBC binding
// and PostgreSQL's driver.
const yahooClasses = "BAROGRAPH_YCSB_CLASSPATH"

// Data that YCSB wrote with dataintegrity verify in Barograph, and vice versa. Without
// dataintegrity, each program runs on the other's table, and the report states that YCSB's values
// were not checked.
func TestYCSBInterop(t *testing.T) {
	classes := os.Getenv(yahooClasses)
	if classes == "" {
		t.Skip("NOT TESTED: YCSB itself, whose JDBC binding is in no registry: set " + yahooClasses + " to Maven's site.ycsb:core:0.17.0 " +
			"and org.postgresql:postgresql with what they need, and to the binding, compiled from jdbc/ of YCSB's repository; install java")
	}
	table := "CREATE TABLE usertable (YCSB_KEY VARCHAR(255) PRIMARY KEY"
	for _, f := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		table += ", FIELD" + f + " TEXT"
	}
	theirs := database(t, sharedServer(t, "postgres"), "theirs", table+")")
	yahoo(t, classes, theirs, "-load", "true")
	for _, w := range []string{"workloadc", "workloada", "workloade", "workloadf"} {
		must(t, "ycsb", "run", "--engine", theirs, "-P", w, "-p", "recordcount=500", "-p", "operationcount=500", "-p", "insertproportion=0", "--verify")
	}
	ours := sharedPlace(t, "postgres")
	must(t, "ycsb", "load", "--engine", ours, "-p", "recordcount=500", "--verify")
	yahoo(t, classes, ours, "-t", "true")

	plain := database(t, sharedServer(t, "postgres"), "plain", table+")")
	yahoo(t, classes, plain, "-load", "false")
	status, _, stderr := barograph(t, "ycsb", "run", "--engine", plain, "-P", "workloada", "-p", "recordcount=500", "-p", "operationcount=2000")
	if status != 0 || !strings.Contains(stderr, "have no stamp and were not compared") {
		t.Errorf("status %d; want a sentence about YCSB's values:\n%s", status, stderr)
	}
	yahoo(t, classes, plain, "-t", "false")
	must(t, "ycsb", "run", "--engine", plain, "-P", "workloada", "-p", "recordcount=500", "-p", "operationcount=2000") // on values of both
	mixed := sharedPlace(t, "postgres")
	must(t, "ycsb", "load", "--engine", mixed, "-p", "recordcount=500")
	yahoo(t, classes, mixed, "-t", "false")
}

// database creates a database, and runs a statement in it.
func database(t *testing.T, server, name, statement string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	do := func(at, sql string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := pgx.Connect(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	do(server, "CREATE DATABASE "+name)
	u.Path = "/" + name
	if statement != "" {
		do(u.String(), statement)
	}
	return u.String()
}

// yahoo runs YCSB on 500 records and checks its lines: every operation and check must succeed.
// YCSB's exit status does not show this.
func yahoo(t *testing.T, classes, at, phase, integrity string) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	c := exec.CommandContext(t.Context(), "java", "-cp", classes, "site.ycsb.Client", "-db", "site.ycsb.db.JdbcDBClient", phase, "-threads", "2",
		"-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", "db.driver=org.postgresql.Driver", "-p", "db.url=jdbc:postgresql://"+u.Host+u.Path, "-p", "db.user=postgres", "-p", "db.passwd="+password,
		"-p", "recordcount=500", "-p", "operationcount=500", "-p", "dataintegrity="+integrity, "-p", "readallfieldsbyname=true", "-p", "readproportion=0.5", "-p", "updateproportion=0.5")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := regexp.MustCompile(`\[INSERT\], Return=OK, 500\b`)
	if phase == "-t" {
		want = regexp.MustCompile(map[string]string{"true": `\[VERIFY\], Return=OK, [1-9]`, "false": `\[READ\], Return=OK, [1-9]`}[integrity])
	}
	if bad := regexp.MustCompile(`Return=(UNEXPECTED_STATE|ERROR|NOT_FOUND)|-FAILED`).Find(out); bad != nil || !want.Match(out) {
		t.Errorf("%s: %s\n%s", phase, bad, out)
	}
}
