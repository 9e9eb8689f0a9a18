//go:build oracle

package oracle

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// envServer names the server of the suite: the URL of a user who may create and
// drop users, e.g. SYSTEM of a pluggable database that holds nothing else.
const envServer = "BAROGRAPH_ORACLE"

// TestConformance is the suite on a server, which a site must name.
func TestConformance(t *testing.T) {
	server := os.Getenv(envServer)
	if server == "" {
		skip := t.Skipf
		if slices.Contains(strings.Split(os.Getenv(enginetest.EnvRequire), ","), "oracle") {
			skip = t.Fatalf
		}
		skip("NOT TESTED: oracle was not run against a server: none can be installed here. Set %s=oracle://system:password@host:1521/service, see docs/reference/engines/oracle.md", envServer)
	}
	var made atomic.Int64
	enginetest.Run(t, enginetest.Config{
		Driver:     Driver(),
		URL:        func(t *testing.T) string { return user(t, server, made.Add(1)) },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "oracle://someone:secret@127.0.0.1:1/nowhere"
		},
		MaxText: maxText,
	})
}

// user makes a user, whose schema is a fresh database, and names it.
func user(t *testing.T, server string, n int64) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is no URL", envServer) // it may hold a password
	}
	db := sql.OpenDB(goora.NewConnector(connectString(u)))
	t.Cleanup(func() { _ = db.Close() })
	name, password := fmt.Sprintf("BAROGRAPH_%d_%d", os.Getpid(), n), "Aa1_"+rand.Text()
	execute := func(text string) {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), text); err != nil {
			t.Errorf("%.30s …: %v", text, err)
		}
	}
	execute("CREATE USER " + name + ` IDENTIFIED BY "` + password + `"`)
	t.Cleanup(func() { execute("DROP USER " + name + " CASCADE") })
	execute("GRANT CREATE SESSION, CREATE TABLE, UNLIMITED TABLESPACE TO " + name)
	if t.Failed() {
		t.FailNow()
	}
	u.User = url.UserPassword(name, password)
	return u.String()
}

// TestStandin is the suite over the stand-in: what it proves is the engine's
// own work, not Oracle's.
func TestStandin(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     over(nil),
		URL:        func(t *testing.T) string { return "oracle:" + filepath.Join(t.TempDir(), "standin.db") },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "oracle:/nowhere/at/all.db"
		},
	})
}

// TestUnreachable asks the driver itself for a server that is not there.
func TestUnreachable(t *testing.T) {
	_, err := engine.Registry{Driver()}.Open(t.Context(), "oracle://someone:secret@127.0.0.1:1/nowhere", engine.Options{})
	if !errors.Is(err, engine.ErrUnreachable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v; want one that wraps ErrUnreachable and holds no password", err)
	}
	for number, word := range map[int]string{badLogin: "password", accountIsShut: "ACCOUNT UNLOCK", passwordIsOver: "IDENTIFIED BY", noSuchService: "lsnrctl", 0: "host"} {
		var err error = network.NewOracleError(number)
		if number == 0 {
			err = errors.New("refused")
		}
		if f, ok := errors.AsType[*fault.Error](unreachable(err)); !ok || !strings.Contains(f.Cure, word) {
			t.Errorf("ORA-%05d: %v", number, unreachable(err))
		}
	}
}

func TestConnectString(t *testing.T) {
	u, err := url.Parse("oracle://me:p%40ss@db:1522/pdb1?sid=X&ssl=true&ssl_verify=false&wallet=/w")
	must(t, err)
	got, err := url.Parse(connectString(u))
	must(t, err)
	want := url.Values{
		"SID": {"X"}, "SSL": {"true"}, "SSL VERIFY": {"false"}, "WALLET": {"/w"},
		"PREFETCH_ROWS": {"500"}, "CONNECT TIMEOUT": {"10"}, "SERVER LOCATION": {"UTC"},
	}
	if !reflect.DeepEqual(got.Query(), want) || got.Host != "db:1522" || got.Path != "/pdb1" || got.User.String() != "me:p%40ss" {
		t.Errorf("got %s", got.Redacted())
	}
}

// Every name and column must be one that Oracle takes.
func TestNamesFit(t *testing.T) {
	reserved := strings.Fields(`ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS CONNECT CREATE
		CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM GRANT GROUP HAVING IDENTIFIED IMMEDIATE IN INCREMENT
		INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE LOCK LONG MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT
		NOWAIT NULL NUMBER OF OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS SELECT SESSION SET
		SHARE SIZE SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE USER VALIDATE VALUES VARCHAR VARCHAR2 VIEW
		WHENEVER WHERE WITH`)
	for _, n := range []design.Name{design.Normalized, design.Document} {
		a := newArchive(&database{}, n)
		subset := strings.Repeat("é\"^", 60)
		objects := a.subsetObjects(subset)
		for _, lt := range record.Types() {
			objects = append(objects, a.typeObjects(subset, lt)...)
		}
		seen := map[string]bool{}
		for _, o := range objects {
			if len(o.name)+len(keySuffix) > 128 || strings.ContainsAny(o.name, "\"\x00") || seen[o.name] {
				t.Errorf("the name %q is too long, cannot be quoted or comes twice", o.name)
			}
			seen[o.name] = true
			for _, line := range strings.Split(o.text, "\n  ")[1:] {
				if column, _, _ := strings.Cut(line, " "); slices.Contains(reserved, strings.ToUpper(column)) {
					t.Errorf("%s has a column %s, which is a word of Oracle's", o.name, column)
				}
			}
			if strings.Contains(o.text, "BYTE) NOT NULL") {
				t.Errorf("an empty text is NULL, and has no place in\n%s", o.text)
			}
		}
	}
}

// A key of an index must fit into a block of 8 KiB (ORA-01450), declared
// lengths and all.
func TestIndexesFit(t *testing.T) {
	const most = 6398
	for _, n := range []design.Name{design.Normalized, design.Document} {
		a := newArchive(&database{}, n)
		lt, _ := record.TypeByName("MPR")
		for _, o := range append(a.subsetObjects("a"), a.typeObjects("a", lt)...) {
			if o.view == "user_indexes" && (strings.Count(o.text, ",")+1)*(maxText+3)+20 > most {
				t.Errorf("%s is too wide", o.text)
			}
		}
	}
	if idBytes+20 > most {
		t.Error("an id is too long for a primary key")
	}
}

func TestTextsThatDoNotFit(t *testing.T) {
	a := openedOver(t, design.Normalized, nil)
	l, err := a.Loader(t.Context(), "a")
	must(t, err)
	for _, s := range []string{"\xff", "a\x00b", strings.Repeat("x", maxText+1), strings.Repeat("é", maxText/2) + "x"} {
		b := records("dir/one.stat", "SAL1L2", s, 2)
		f, ok := errors.AsType[*fault.Error](l.Add(t.Context(), b))
		if !ok || f.File != "dir/one.stat" || f.Line != 1 || f.Cure == "" {
			t.Errorf("%.20q: %v", s, f)
		}
	}
	if err := l.Add(t.Context(), records("dir/one.stat", "SAL1L2", strings.Repeat("é", maxText/2), 2)); err != nil {
		t.Error(err)
	}
	must(t, l.Close())
}

// What the driver hands over becomes what sqlengine takes.
func TestCanonical(t *testing.T) {
	src := time.Date(2019, 3, 10, 2, 30, 0, 0, time.FixedZone("", -7*3600))
	if got, want := canonical(src), time.Date(2019, 3, 10, 2, 30, 0, 0, time.UTC); got != want {
		t.Errorf("%v: %v, want %v", src, got, want)
	}
	for _, v := range []any{"1546300800", nil, 1.5} {
		if got := canonical(v); got != v {
			t.Errorf("%v: %v", v, got)
		}
	}
}

// TestNumbersAsTexts: numbers are sent as texts that TO_BINARY_DOUBLE accepts by Oracle's documentation: a number with an
// exponent, INF or -INF in any case. Each text is the same float64.
func TestNumbersAsTexts(t *testing.T) {
	accepted := regexp.MustCompile(`(?i)^-?(\d+(\.\d+)?(E[+-]\d+)?|INF)$`)
	to := newBulk("t", make([]sqlengine.Column, 1))
	for i, f := range append(enginetest.AwkwardNumbers(), math.Inf(1), math.Inf(-1)) {
		to.Number(0, f)
		if got := double(to.texts[0][i]); got != f || !accepted.MatchString(to.texts[0][i]) {
			t.Errorf("%v is sent as %s", f, to.texts[0][i])
		}
	}
}

// TestExplainOfAwkwardSubset: the parameter of the ids is replaced, and the name of the subset is not.
func TestExplainOfAwkwardSubset(t *testing.T) {
	for _, subset := range []string{"run:1", "JSON_TABLE(:1 FORMAT JSON"} {
		log := &statementLog{}
		a := openedOver(t, design.Document, log)
		enginetest.StoreMarked(t, a, subset, nil, records("dir/one.stat", "SAL1L2", "GFS", 3))
		q, err := question.Find("test_1")
		must(t, err)
		query, err := a.Phrase(t.Context(), q.InSubset(subset), flavour.Keys)
		must(t, err)
		_, err = a.Explain(t.Context(), query)
		must(t, err)
		i := slices.IndexFunc(log.lines, func(s string) bool { return strings.HasPrefix(s, "EXPLAIN PLAN FOR ") })
		if explained := log.lines[i]; !strings.Contains(explained, objectName(subset, "doc_sal1l2")) || !strings.Contains(explained, "JSON_TABLE('[]' FORMAT JSON, '$[*]' COLUMNS (id") {
			t.Errorf("subset %q: %s", subset, explained)
		}
	}
}

// TestTablesOfDesigns: the size of a design counts its own tables, whatever the name of the subset.
func TestTablesOfDesigns(t *testing.T) {
	for _, n := range []design.Name{design.Normalized, design.Document} {
		pattern := regexp.MustCompile(tablePattern(n))
		for table, owner := range map[string]design.Name{
			"stat_header": design.Normalized, "data_file": design.Normalized, "line_data_sal1l2": design.Normalized, "barograph_normalized_catalog": design.Normalized,
			"doc_sal1l2": design.Document, "barograph_document_marks": design.Document, "other": "",
		} {
			for _, subset := range []string{"a", "x/doc_y", "x/stat_header", "x/line_data_ctc", "x/barograph_document_y", "x/barograph_normalized_y"} {
				if name := objectName(subset, table); pattern.MatchString(name) != (owner == n) {
					t.Errorf("%s: the table %s is counted: %v", n, name, owner != n)
				}
			}
		}
	}
}

// Plans as DBMS_XPLAN's table has them (Oracle's SQL Tuning Guide, "Reading
// Execution Plans": nested loops, range and unique scans).
func TestAccesses(t *testing.T) {
	const full, index, lookup = archive.FullScan, archive.IndexScan, archive.KeyLookup
	for _, tc := range []struct {
		name  string
		steps []step
		want  []archive.Access
	}{
		{
			"hash join",
			[]step{{"SELECT STATEMENT", " ", " ", 9}, {"HASH JOIN", " ", " ", 9}, {"TABLE ACCESS", "FULL", "a/stat_header", 2}, {"TABLE ACCESS", "FULL", "a/line_data_ctc", 90}},
			[]archive.Access{{Object: "stat_header", Method: full, Examined: -1, Kept: 2}, {Object: "line_data_ctc", Method: full, Examined: -1, Kept: 90}},
		},
		{
			"nested loops",
			[]step{
				{"TABLE ACCESS", "BY INDEX ROWID BATCHED", "a/stat_header", 2},
				{"INDEX", "RANGE SCAN", "a/stat_header_unique_pk", 3},
				{"INDEX", "RANGE SCAN", "a/line_data_ctc_stat_header_id_idx", 40},
				{"TABLE ACCESS", "BY INDEX ROWID", "a/line_data_ctc", 30},
			},
			[]archive.Access{
				{Object: "stat_header", Method: index, Index: "stat_header_unique_pk", Examined: -1, Kept: 2},
				{Object: "line_data_ctc", Method: index, Index: "line_data_ctc_stat_header_id_idx", Examined: -1, Kept: 30},
			},
		},
		{
			"keys",
			[]step{{"JSONTABLE EVALUATION", " ", " ", 8168}, {"TABLE ACCESS", "BY INDEX ROWID", "a/doc_ctc", 1}, {"INDEX", "UNIQUE SCAN", "a/doc_ctc_pk", 1}},
			[]archive.Access{{Object: "doc_ctc", Method: lookup, Index: "doc_ctc_pk", Examined: -1, Kept: 1}},
		},
		{
			"index alone",
			[]step{{"INDEX", "FAST FULL SCAN", "a/doc_ctc_series_idx", 7}},
			[]archive.Access{{Object: "doc_ctc", Method: index, Index: "doc_ctc_series_idx", Examined: -1, Kept: 7}},
		},
	} {
		if got := accesses("a", tc.steps); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// DDL commits; the stand-in refuses it where that would break a commit in two.
func TestNoDDLInATransaction(t *testing.T) {
	e, err := engine.Registry{over(nil)}.Open(t.Context(), "oracle:"+filepath.Join(t.TempDir(), "s.db"), engine.Options{})
	must(t, err)
	defer e.Close()
	db := archive.DatabaseOf(e).(*database)
	tx, err := db.pool.BeginTx(t.Context(), nil)
	must(t, err)
	if _, err := tx.ExecContext(t.Context(), `CREATE TABLE "x" (a NUMBER)`); err == nil {
		t.Error("the stand-in would not notice DDL within a transaction")
	}
	must(t, tx.Rollback())
	must(t, newArchive(db, design.Normalized).makeAll(t.Context(), []object{{"user_tables", "table_name", "x", `CREATE TABLE "x" (a NUMBER)`}}))
	_, err = db.pool.ExecContext(t.Context(), `CREATE TABLE "x" (a NUMBER)`)
	if code(err) != nameTaken {
		t.Errorf("a table that is there: %v", err)
	}
}
