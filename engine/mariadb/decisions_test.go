package mariadb

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// The parameters of a URL ignore letter case, and have the documented defaults. In a cluster only InnoDB is possible.
func TestParametersOfAURL(t *testing.T) {
	for _, c := range []struct {
		query                     string
		engine                    string
		indexes, prepare, profile bool
		problem                   string
	}{
		{"", "", false, false, false, ""},
		{"engine=myisam&apply_indexes=TRUE&protocol=Prepared&server_time=true", "MyISAM", true, true, true, ""},
		{"engine=InnoDB&apply_indexes=false&protocol=text&server_time=false", "InnoDB", false, false, false, ""},
		{"engine=Aria", "", false, false, false, `parameter engine: "Aria" is not understood`},
		{"protocol=binary", "", false, false, false, `parameter protocol: "binary" is not understood`},
		{"server_time=1", "", false, false, false, `parameter server_time: "1" is not understood`},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		d := &database{}
		err = d.readParameters(q)
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v", c.query, err)
		}
		if err == nil && (d.engine != c.engine || d.indexes != c.indexes || d.prepare != c.prepare || d.profile != c.profile) {
			t.Errorf("%s: %+v", c.query, d)
		}
	}
	for _, c := range []struct {
		cluster   bool
		given     string
		want, err string
	}{
		{false, "", "MyISAM", ""},
		{false, "InnoDB", "InnoDB", ""},
		{false, "MyISAM", "MyISAM", ""},
		{true, "", "InnoDB", ""},
		{true, "InnoDB", "InnoDB", ""},
		{true, "MyISAM", "MyISAM", "keeps MyISAM's rows on one node"},
	} {
		d := &database{cluster: c.cluster, engine: c.given}
		if err := d.chooseEngine(); d.engine != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("cluster %t, %q: %q, %v", c.cluster, c.given, d.engine, err)
		}
	}
}

// Each node of a cluster has a configuration with a limit for connecting, and its own name in a certificate.
func TestConfigurations(t *testing.T) {
	parse := func(raw string) *url.URL {
		t.Helper()
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	one := configs(parse("mariadb://me:secret@h:33/mv_"), &tls.Config{ServerName: "given"}) //nolint:gosec // only its name is used
	if len(one) != 1 || one[0].User != "me" || one[0].Passwd != "secret" || one[0].Timeout != 0 || one[0].TLS.ServerName != "given" {
		t.Errorf("%+v", one)
	}
	if c := one[0]; !c.InterpolateParams || c.MaxAllowedPacket != 0 || c.Params["time_zone"] != "'+00:00'" || len(c.Params) != len(sessionSettings) {
		t.Errorf("%+v", c)
	}
	many := configs(parse("mariadb://a,b:44/"), &tls.Config{ServerName: "given"}) //nolint:gosec // only its name is used
	if len(many) != 2 || many[0].Addr != "a:3306" || many[1].Addr != "b:44" || many[0].Timeout != connectTimeout || many[1].TLS.ServerName != "" {
		t.Errorf("%+v", many)
	}
	if named := configs(parse("mariadb://a,b/?tls_name=x"), &tls.Config{ServerName: "x"}); named[0].TLS.ServerName != "x" { //nolint:gosec // only its name is used
		t.Errorf("%+v", named[0].TLS)
	}
	if plain := configs(parse("mariadb://a,b/"), nil); plain[0].TLS != nil {
		t.Errorf("%+v", plain[0].TLS)
	}
}

// node is a node of a cluster in a state. Its connections know only wsrep_ready.
type node struct {
	state string // "" = connections are refused, "old" = it does not know the setting
	tries int
}

var errRefused = errors.New("refused")

func (n *node) Driver() driver.Driver { return nil }

func (n *node) Connect(context.Context) (driver.Conn, error) {
	if n.tries++; n.state == "" {
		return nil, errRefused
	}
	return &nodeConn{n, false, 0}, nil
}

type nodeConn struct {
	*node
	closed bool
	rows   int
}

func (*nodeConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (*nodeConn) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (c *nodeConn) Close() error                      { c.closed = true; return nil }
func (*nodeConn) Columns() []string                   { return []string{"Variable_name", "Value"} }

func (c *nodeConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if query != "SHOW STATUS LIKE 'wsrep_ready'" {
		return nil, errors.New(query)
	}
	return c, nil
}

func (c *nodeConn) Next(cells []driver.Value) error {
	if c.rows++; c.state == "old" || c.rows > 1 {
		return io.EOF
	}
	cells[0], cells[1] = "wsrep_ready", []byte(c.state)
	return nil
}

// A loader connects to the first node that accepts statements, and questions are spread over all of them.
func TestConnectsToANodeThatServes(t *testing.T) {
	connect := func(spread bool, states ...string) (n *nodes, all []*node) {
		n = &nodes{spread: spread}
		for _, s := range states {
			one := &node{state: s}
			all, n.connectors = append(all, one), append(n.connectors, one)
		}
		return n, all
	}
	n, all := connect(false, "", "OFF", "ON", "ON")
	for range 2 {
		c, err := n.Connect(t.Context())
		if err != nil || c.(*nodeConn).node != all[2] {
			t.Fatal(c, err)
		}
	}
	if all[0].tries != 2 || all[1].tries != 2 || all[3].tries != 0 {
		t.Errorf("%+v", all)
	}
	n, all = connect(true, "ON", "ON", "ON")
	for range 6 {
		if _, err := n.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if all[0].tries != 2 || all[1].tries != 2 || all[2].tries != 2 {
		t.Errorf("%+v", all)
	}
	n, _ = connect(false, "", "OFF", "old")
	_, err := n.Connect(t.Context())
	for _, want := range []string{"refused", "wsrep_ready is OFF", "wsrep_ready is not known to this server"} {
		if !errors.Is(err, errRefused) || !errors.Is(err, engine.ErrUnreachable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, all = connect(false, "", "ON"); true {
		if _, err = n.Connect(ctx); !errors.Is(err, context.Canceled) || all[1].tries != 0 {
			t.Errorf("canceled: %v", err)
		}
	}
	if n, _ = connect(false, "OFF"); true { // a single server has no cluster
		if _, err = n.Connect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func serverError(number uint16) error { return fmt.Errorf("x: %w", &mysql.MySQLError{Number: number}) }

// Only errors of another commit repeat a commit, and only in a cluster, at most 50 times.
func TestRepeatedCommits(t *testing.T) {
	for err, want := range map[error]bool{
		errCommitConflict: true, serverError(1213): true, serverError(1062): true, serverError(1317): true, serverError(1146): false, io.EOF: false,
	} {
		if isCommitConflict(err) != want {
			t.Errorf("%v: %t", err, !want)
		}
	}
	for _, c := range []struct {
		cluster bool
		errs    []error
		want    error
		calls   int
	}{
		{true, []error{errCommitConflict, serverError(1213), nil}, nil, 3},
		{true, []error{io.EOF}, io.EOF, 1},
		{false, []error{errCommitConflict}, errCommitConflict, 1},
		{true, []error{nil}, nil, 1},
	} {
		l, calls := &baseLoader{a: &openArchive{db: &database{cluster: c.cluster, log: slog.New(slog.DiscardHandler)}}}, 0
		err := l.retryCommit(t.Context(), func() error { calls++; return c.errs[calls-1] })
		if !errors.Is(err, c.want) || calls != c.calls {
			t.Errorf("%v: %v after %d calls", c.errs, err, calls)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &baseLoader{a: &openArchive{db: &database{cluster: true, log: slog.New(slog.DiscardHandler)}}}
	if err := l.retryCommit(ctx, func() error { cancel(); return errCommitConflict }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The server's errors and warnings about values, LOCAL and other loaders have causes that a user understands.
func TestErrorsOfLoadData(t *testing.T) {
	load := func(replace bool, stored int64, err error, warnings ...[]any) error {
		f := infile{table: "`t`", columns: []string{"a"}, charset: "binary", replace: replace, rows: func(*rowWriter) error { return nil }}
		n, got := f.run(t.Context(), func(_ context.Context, text string, _ []any, each func([]any) error) (int64, error) {
			if text != "SHOW WARNINGS" {
				return stored, err
			}
			for _, w := range warnings {
				if err := each(w); err != nil {
					return 0, err
				}
			}
			return 0, nil
		})
		if n != 0 {
			t.Errorf("%d rows, %v", n, got)
		}
		return got
	}
	for _, c := range []struct {
		name    string
		replace bool
		stored  int64
		err     error
		warning []any
		want    string
	}{
		{"nothing", false, 0, nil, nil, ""},
		{"LOCAL is off", false, 0, serverError(4166), nil, "server setting local_infile is off"},
		{"LOCAL is off, older", false, 0, serverError(1148), nil, "server setting local_infile is off"},
		{"too long", false, 0, serverError(1406), nil, "a value does not fit"},
		{"out of range", false, 0, serverError(1264), nil, "a value does not fit"},
		{"truncated", false, 0, serverError(1265), nil, "a value does not fit"},
		{"wrong value", false, 0, serverError(1292), nil, "a value does not fit"},
		{"incorrect", false, 0, serverError(1366), nil, "a value does not fit"},
		{"another error", false, 0, serverError(1), nil, "load into `t`: x: "},
		{"fewer rows", false, 1, nil, nil, "the server stored 1 of 0 rows"},
		{"replaced rows", true, 1, nil, nil, ""},
		{"a duplicate", false, 0, nil, []any{"Warning", int64(1062), "Duplicate entry"}, errCommitConflict.Error()},
		{"a changed value", false, 0, nil, []any{"Warning", int64(9), "cut"}, "a value does not fit: cut"},
		{"a repaired table", false, 0, nil, []any{"Error", int64(145), "Table is crashed"}, ""},
		{"a repaired index", false, 0, nil, []any{"Error", int64(126), "index"}, ""},
		{"no warning", false, 0, nil, []any{"Warning", "x", "y"}, "x"},
	} {
		var warnings [][]any
		if c.warning != nil {
			warnings = append(warnings, c.warning)
		}
		if err := load(c.replace, c.stored, c.err, warnings...); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	f := infile{table: "`t`", rows: func(*rowWriter) error { return errRefused }}
	if _, err := f.run(t.Context(), func(context.Context, string, []any, func([]any) error) (int64, error) { return 0, io.EOF }); !errors.Is(err, errRefused) {
		t.Errorf("the rows cannot be read: %v", err)
	}
}

// A statement that the server refuses has a cure, and a lost connection is an unreachable server.
func TestErrorsOfCalls(t *testing.T) {
	if err := callError(t.Context(), mysql.ErrPktTooLarge); !strings.Contains(err.Error(), "max_allowed_packet is too small") {
		t.Error(err)
	}
	explained := fmt.Errorf("y: %w", &fault.Error{Problem: "z", Err: mysql.ErrPktTooLarge})
	if err := callError(t.Context(), explained); strings.Contains(err.Error(), "is too small") {
		t.Error(err)
	}
	if err := callError(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := callError(t.Context(), mysql.ErrInvalidConn); !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
	for number, want := range map[uint16]bool{1049: true, 1146: true, 1010: false} {
		if absent(serverError(number)) != want {
			t.Errorf("%d: %t", number, !want)
		}
	}
	if is(nil, 1049) || is(io.EOF, 1049) {
		t.Error("no error of a server")
	}
}

// The description of a commit follows the server's setting; a cluster keeps acknowledged writes at all nodes.
func TestPromisesOfCommits(t *testing.T) {
	for _, c := range []struct {
		setting  string
		cluster  bool
		text     string
		flushed  bool
		promises int
	}{
		{"1", false, "InnoDB: on disk, flushed, commits of one moment together", true, len(engine.Promises())},
		{"2", false, "InnoDB: given to the system, flushed every second (innodb_flush_log_at_trx_commit=2)", false, len(engine.Promises())},
		{"0", false, "InnoDB: in the server's memory, written every second (innodb_flush_log_at_trx_commit=0)", false, 0},
		{"1", true, "at all 3 nodes; of each InnoDB: on disk, flushed, commits of one moment together", true, 2},
	} {
		a := engine.About{Settings: map[string]string{"innodb_flush_log_at_trx_commit": c.setting, "wsrep_cluster_size": "3"}}
		(&database{cluster: c.cluster}).describeCommits(&a)
		if a.Acknowledged != c.text || a.Flushed != c.flushed || len(a.Promises) != c.promises {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}

// The node that stopped last starts a cluster: its file says so. Without such a file, or with a missing one, there is an
// error.
func TestOrderOfNodes(t *testing.T) {
	c := &launch.Cluster{}
	for i, safe := range []string{"0", "0", "1"} {
		n := launch.Node{Index: i, Dir: t.TempDir()}
		c.Nodes = append(c.Nodes, n)
		if err := errors.Join(os.MkdirAll(data(&n), 0o700), os.WriteFile(filepath.Join(data(&n), grastate), []byte("seqno: 5\nsafe_to_bootstrap: "+safe+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := order(t.Context(), c); err != nil || !slices.Equal(all, []int{2, 1, 0}) {
		t.Errorf("%v, %v", all, err)
	}
	if err := bootstrap(&c.Nodes[1]); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(data(&c.Nodes[1]), grastate)); err != nil || string(text) != "seqno: 5\nsafe_to_bootstrap: 1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(filepath.Join(data(&c.Nodes[0]), grastate)); err != nil {
		t.Fatal(err)
	}
	if _, err := order(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := bootstrap(&c.Nodes[0]); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The rows of a crashed commit are deleted in the order of their references, and rows of another program stay.
func TestDeletesAddedRows(t *testing.T) {
	a := &openArchive{db: &database{}}
	opened, err := a.db.Open(t.Context(), design.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	a, _ = opened.(*openArchive)
	for _, c := range []struct {
		p    addition
		want string
	}{
		{addition{"line_data_sl1l2", rowColumn, 5}, "DELETE FROM `s`.`line_data_sl1l2` WHERE barograph_row >= 5"},
		{addition{"line_data_pct", idOfLines, 5}, "DELETE FROM `s`.`line_data_pct` WHERE line_data_id >= 5 AND barograph_repeats IS NOT NULL"},
		{
			addition{"line_data_pct_thresh", idOfLines, 7},
			"DELETE `s`.`line_data_pct_thresh` FROM `s`.`line_data_pct_thresh` JOIN `s`.`line_data_pct` ld USING (line_data_id) WHERE line_data_id >= 7 AND ld.barograph_repeats IS NOT NULL",
		},
		{
			addition{"line_data_tcdiag_diag", idOfLines, 7},
			"DELETE `s`.`line_data_tcdiag_diag` FROM `s`.`line_data_tcdiag_diag` JOIN `s`.`line_data_tcdiag` ld USING (line_data_id) WHERE line_data_id >= 7 AND ld.barograph_row IS NOT NULL",
		},
		{
			addition{"mtd_header", "mtd_header_id", 3},
			"DELETE FROM `s`.`mtd_header` WHERE mtd_header_id >= 3 AND mtd_header_id NOT IN (SELECT mtd_header_id FROM `s`.`mtd_2d_obj` WHERE mtd_header_id >= 3)" +
				" AND mtd_header_id NOT IN (SELECT mtd_header_id FROM `s`.`mtd_3d_obj_single` WHERE mtd_header_id >= 3)" +
				" AND mtd_header_id NOT IN (SELECT mtd_header_id FROM `s`.`mtd_3d_obj_pair` WHERE mtd_header_id >= 3)",
		},
	} {
		if got := a.deleteAdded("s", c.p); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.p, got, c.want)
		}
	}
	all := []addition{{"data_file", "data_file_id", 1}, {"line_data_pct", idOfLines, 1}, {"stat_header", "stat_header_id", 1}, {"line_data_pct_thresh", idOfLines, 1}, {"line_data_cnt", rowColumn, 1}}
	slices.SortFunc(all, func(p, q addition) int { return strings.Compare(q.order(), p.order()) })
	var names []string
	for _, p := range all {
		names = append(names, p.table)
	}
	if got := strings.Join(names, " "); got != "line_data_pct_thresh line_data_pct line_data_cnt stat_header data_file" {
		t.Error(got)
	}
	if files := referring("data_file", "data_file_id"); !slices.Contains(files, "line_data_sl1l2") || !slices.Contains(files, "mode_header") || slices.Contains(files, "mode_cts") {
		t.Errorf("%q", files)
	}
	if headers := referring(design.HeaderTable, "stat_header_id"); !slices.Contains(headers, "line_data_sl1l2") || slices.ContainsFunc(headers, func(n string) bool { return strings.HasPrefix(n, "barograph_") }) {
		t.Errorf("%q", headers)
	}
	if a.lockName("s") == a.lockName("t") || len(a.lockName("s")) > 64 {
		t.Error(a.lockName("s"))
	}
	a.db.readOnly = true
	if _, err := a.Loader(t.Context(), "s"); !errors.Is(err, engine.ErrReadOnly) {
		t.Error(err)
	}
	a.db.cacheProblem = "query_cache_type is OFF"
	if _, err := a.Phrase(t.Context(), nil, flavour.CachedSQL); !errors.Is(err, flavour.ErrCannotExpress) || !strings.Contains(err.Error(), "query_cache_type is OFF") {
		t.Error(err)
	}
}

// METviewer's tables of objects are numbered by a column of METviewer's or of Barograph's, and are written as a family.
func TestFamiliesOfObjects(t *testing.T) {
	for name, want := range map[string]string{
		"MODE_OBJ_SINGLE": "mode_obj_id", "MODE_OBJ_PAIR": rowColumn, "MODE_CTS": rowColumn, "TCDIAG": idOfLines, "PROBRIRW": idOfLines, "TCMPR": rowColumn,
	} {
		if got := objectViews()[name].id(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := strings.Join(objectViews()["TCMPR"].family(), " "); got != "line_data_probrirw line_data_probrirw_thresh line_data_tcdiag line_data_tcdiag_diag line_data_tcmpr tcst_header" {
		t.Error(got)
	}
	if !isView("mode_cts") || isView("mode_header") || objectColumns("stat_header") != nil {
		t.Error("views")
	}
	for name, v := range objectViews() {
		lt, ok := record.TypeByName(name)
		if !ok || len(viewColumns(lt, v.table)) == 0 || len(viewHeaderColumns(lt, v)) == 0 {
			t.Errorf("%s fills no columns", name)
		}
	}
	cols := []column{{met: metCol{name: "model"}}, {met: metCol{name: "fcst_lead"}}, {met: metCol{name: "fcst_init"}}}
	if got := revisionKey([]byte("GFS\t120000\t20190101\t"), cols, "F001"); got != "GFS\t\t\tF001" {
		t.Errorf("%q", got)
	}
	w := &lineWriter{revisions: map[string]int64{}}
	key := func(lead string) []byte { return []byte("GFS\t" + lead + "\t20190101\t") }
	if a, b, c, d := w.revision(key("1"), cols, "", 5), w.revision(key("1"), cols, "F1", 6), w.revision(key("2"), cols, "F1", 7), w.revision(key("1"), cols, "F2", 8); a != null || b != "6" || c != "6" || d != "8" {
		t.Errorf("revisions %s %s %s %s", a, b, c, d)
	}
}
