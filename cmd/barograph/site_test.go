package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/study/met"
)

// envMain makes a test process run the program itself.
const envMain = "BAROGRAPH_TEST_MAIN"

// TestMain runs the program in processes that tests start: those of child, and those that the
// program starts for cold starts and disks.
func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" || len(os.Args) > 1 && (os.Args[1] == met.ColdCommand || os.Args[1] == lab.DiskCommand) {
		main()
	}
	servers.Main(m)
	if star != "" {
		if err := os.RemoveAll(star); err != nil {
			panic(err)
		}
	}
}

// servers are shared by tests that neither kill their server nor change its settings.
var servers enginetest.Servers

// sharedServer returns the URL of a shared server.
func sharedServer(t *testing.T, scheme string) string {
	t.Helper()
	d, _ := all.Registry().Find(scheme)
	return servers.Lab(t, *d, lab.Options{Memory: storyMemory}).URL()
}

// places counts the places on shared servers, which gives each an own name.
var places atomic.Int64

// sharedPlace returns the URL of an empty place on a shared server: a database, a namespace, or a
// prefix of database names.
func sharedPlace(t *testing.T, scheme string) string {
	t.Helper()
	at, name := sharedServer(t, scheme), fmt.Sprintf("t%d_", places.Add(1))
	if scheme == "postgres" {
		return database(t, at, name, "")
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// child starts a command line in its own process, which the test can kill.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), envMain+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// client runs one of MariaDB's programs.
func client(t *testing.T, server, command string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	c := exec.CommandContext(t.Context(), "bash", "-c", "set -o pipefail; to=(-h "+u.Hostname()+" -P "+u.Port()+" -u "+u.User.Username()+"); "+command)
	c.Env = append(os.Environ(), "MYSQL_PWD="+password)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// diff compares two databases of METdbLoad, including tables of tropical cyclones. Earlier, a load
// with Barograph's own tables into such a database failed with error 1054 after it had added
// headers and tables. Now load refuses before it writes anything, also if it is killed at any time.
func TestDatabasesOfMETdbLoad(t *testing.T) {
	server := sharedServer(t, "mariadb")
	for _, name := range []string{"mv_site_1", "mv_site_2"} {
		dump := sharedData(t, "met/metdbload_site/"+name+".sql.xz")
		client(t, server, "mariadb ${to[@]} -e 'DROP DATABASE IF EXISTS "+name+"; CREATE DATABASE "+name+"' && xz -dc '"+dump+"' | mariadb ${to[@]} "+name)
	}
	status, stdout, stderr := barograph(t, "diff", server+"mv_site_1", server+"mv_site_2", "--samples", "1")
	if status != fault.Differs || !strings.Contains(stdout, "34,544 rows are equal, 5,466 differ") {
		t.Errorf("diff: status %d\n%s%s", status, stdout, stderr)
	}
	files := filepath.Join(unpack(t, "met/metdbload_site/site_files.tar.xz"), "site")
	state := func() string {
		return client(t, server, "mariadb-dump ${to[@]} --skip-comments mv_site_1 | md5sum; mariadb ${to[@]} -N -e 'SHOW DATABASES'")
	}
	before := state()
	for _, design := range []string{"normalized", "document", "wide"} {
		status, _, stderr := barograph(t, "load", files, "--engine", server, "--design", design, "--subset", "mv_site_1")
		if status != fault.Failed || !strings.Contains(stderr, "database mv_site_1") || !strings.Contains(stderr, "nothing was written") {
			t.Errorf("%s: status %d: %s", design, status, stderr)
		}
	}
	kills := 3
	if os.Getenv(enginetest.EnvSoak) != "" {
		kills = 50
	}
	for i := range kills {
		c := child(t, "load", files, "--engine", server, "--design", "normalized", "--subset", "mv_site_1")
		time.Sleep(time.Duration(i*500/kills) * time.Millisecond)
		_ = c.Process.Kill() // the process may have ended
		_ = c.Wait()
	}
	if after := state(); after != before {
		t.Errorf("before\n%s after\n%s", before, after)
	}
}

// A database of METdbLoad is queried without changes, adopted, repaired, and loaded into. Then
// METdbLoad loads more files into it.
func TestAdopt(t *testing.T) {
	server := sharedServer(t, "mariadb")
	restore := func(dump, name string) {
		client(t, server, "mariadb ${to[@]} -e 'DROP DATABASE IF EXISTS "+name+"; CREATE DATABASE "+name+"' && xz -dc '"+sharedData(t, "met/metdbload_site/"+dump+".sql.xz")+"' | mariadb ${to[@]} "+name)
	}
	restore("mv_site_1", "mv_site")
	restore("mv_site_2", "mv_site_2")
	site := server + "mv_site"
	sum := func() string { return client(t, server, "mariadb-dump ${to[@]} --skip-comments mv_site | md5sum") }
	before := sum()

	asked := must(t, "ask", "test_3", "--engine", server, "--subset", "mv_site", "--valid", "all", "--where", "vx_mask=", "--where", "model=ECM", "--format", "csv")
	if n := strings.Count(asked, "\n"); n != 68 {
		t.Errorf("asked as it is: %d lines\n%.500s", n, asked)
	}
	met := must(t, "met", "--from", server, "--subset", "mv_site", "--engine", "sqlite:"+filepath.Join(t.TempDir(), "a.db"), "--design", "normalized", "--out", filepath.Join(t.TempDir(), "run"), "--reps", "1", "--warmups", "0")
	if !strings.Contains(met, "60 of 60 results equal the reference") || !strings.Contains(strings.Join(strings.Fields(met), " "), "so this study queries only copies of it") || sum() != before {
		t.Errorf("met --from as it is: %s", met)
	}
	looked := must(t, "adopt", site)
	for _, want := range []string{"6,380 rows of 6 line types (6,380 records)", "3025  init time beyond 24 h", "42  empty level", "680  PSTD cut", "adopt changed nothing"} {
		if !strings.Contains(looked, want) {
			t.Errorf("adopt does not say %q:\n%s", want, looked)
		}
	}
	if status, _, stderr := barograph(t, "verify", server, "--subset", "mv_site"); status != fault.Incomplete || !strings.Contains(stderr, "is not verified, because another program loaded it") {
		t.Errorf("verify before adopt: %d %s", status, stderr)
	}
	kills := 4
	if os.Getenv(enginetest.EnvSoak) != "" {
		kills = 50
	}
	for i := range kills {
		c := child(t, "adopt", site, "--repair")
		time.Sleep(time.Duration(i*1500/kills) * time.Millisecond)
		_ = c.Process.Kill() // the process may have ended
		_ = c.Wait()
		time.Sleep(100 * time.Millisecond) // the server finishes the client's last statement
		if sum() == before {
			continue
		}
		// the adoption is complete or has not happened
		if status, _, stderr := barograph(t, "verify", server, "--subset", "mv_site"); status != 0 && status != fault.Incomplete {
			t.Errorf("after a kill: %d %s", status, stderr)
		}
		must(t, "adopt", site, "--forget")
		restore("mv_site_1", "mv_site")
	}
	client(t, server, "mariadb ${to[@]} -e 'ALTER TABLE stat_header ADD INDEX (model)' mv_site") // its name is that of its column
	if out := must(t, "adopt", site, "--repair"); !strings.Contains(out, "barograph_old_mv_site") {
		t.Error(out)
	}
	if out := client(t, server, "mariadb ${to[@]} -N -e 'SHOW INDEX FROM stat_header WHERE Key_name = \"model\"' mv_site"); !strings.Contains(out, "model") {
		t.Errorf("the index of the site is lost: %q", out)
	}
	must(t, "verify", server, "--subset", "mv_site")
	if status, _, stderr := barograph(t, "adopt", site, "--repair"); status != fault.Failed || !strings.Contains(stderr, "--forget") {
		t.Errorf("adopted twice: %d %s", status, stderr)
	}

	files := filepath.Join(unpack(t, "met/metdbload_site/site_files.tar.xz"), "site")
	must(t, "load", filepath.Join(files, "stat2"), "--engine", server, "--design", "normalized", "--subset", "mv_site")
	spec := filepath.Join(t.TempDir(), "spec.xml")
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	text := "<load_spec><connection><host>" + u.Host + "</host><database>mv_clean</database><user>root</user><password>" + password + "</password></connection>" +
		"<folder_tmpl>" + files + "/{dir}</folder_tmpl><load_val><field name='dir'><val>vsdb</val><val>stat1</val><val>stat2</val></field></load_val>" +
		"<group>Site</group><description>a site</description><load_note>first load</load_note></load_spec>"
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "load", "--spec", spec)
	if out := client(t, server, "mariadb ${to[@]} -N -e 'SELECT category, description, update_detail, load_xml FROM metadata JOIN instance_info' mv_clean"); !strings.HasPrefix(out, "Site\ta site\tfirst load\t<load_spec>") || strings.Contains(out, password) {
		t.Error(out)
	}
	for _, name := range []string{"mv_site", "mv_clean"} {
		client(t, server, "mariadb ${to[@]} "+name+` -e "UPDATE data_file SET path = REPLACE(path, '`+files+`', '/data/site')"`)
	}
	equal := func(left, right string) {
		t.Helper()
		if status, out, stderr := barograph(t, "diff", server+left, server+right, "--known", "metdbload"); status != 0 {
			t.Errorf("%s, %s: %d\n%s%s", left, right, status, out, stderr)
		}
	}
	equal("mv_site", "mv_site_2")
	equal("mv_clean", "mv_site_2")
	if status, out, _ := barograph(t, "diff", server+"mv_clean", server+"mv_site"); status != fault.Differs || !strings.Contains(out, "39,968 rows are equal, 42 differ") {
		t.Errorf("%d\n%s", status, out) // the means that METdbLoad rounded
	}
	must(t, "load", filepath.Join(files, "vsdb", "gfs_20190101.vsdb"), "--on-conflict", "last", "--engine", server, "--design", "normalized", "--subset", "mv_site")
	client(t, server, "mariadb ${to[@]} mv_site"+` -e "DELETE FROM data_file WHERE path = '/data/site/vsdb' AND filename = 'gfs_20190101.vsdb'; UPDATE data_file SET path = REPLACE(path, '`+files+`', '/data/site')"`)
	if out := must(t, "diff", server+"mv_clean", server+"mv_site"); !strings.Contains(out, "40,010 rows are equal, 0 differ") {
		t.Error(out)
	}

	// Add METdbLoad's second load next to Barograph's, with METdbLoad's own numbering. It uses LOAD
	// DATA without a list of columns, and finds existing headers by their texts.
	client(t, server, "mariadb ${to[@]} mv_site < testdata/metdbload_second.sql")
	neighbor := must(t, "adopt", site)
	if !strings.Contains(neighbor, "4680  added since") || !strings.Contains(neighbor, "3744  duplicate record") {
		t.Error(neighbor)
	}
	if status, _, stderr := barograph(t, "load", filepath.Join(files, "stat2"), "--engine", server, "--design", "normalized", "--subset", "mv_site"); status != 0 {
		t.Errorf("files that are loaded: %d %s", status, stderr)
	}
	// If the archive has lost anything, its originals may be the only copy, although METdbLoad has added more records than
	// were lost.
	for _, damage := range []struct{ do, undo, want string }{
		{
			"UPDATE line_data_sal1l2 SET stat_header_id = stat_header_id + 1000000 WHERE barograph_row IS NOT NULL LIMIT 3",
			"UPDATE line_data_sal1l2 SET stat_header_id = stat_header_id - 1000000 WHERE stat_header_id > 1000000", " lost;",
		},
		{
			"UPDATE line_data_sal1l2 SET total = total + 1 WHERE barograph_row IS NOT NULL ORDER BY barograph_row LIMIT 1",
			"UPDATE line_data_sal1l2 SET total = total - 1 WHERE barograph_row IS NOT NULL ORDER BY barograph_row LIMIT 1", "have different values",
		},
		{"UPDATE barograph_normalized_catalog SET catalog = REVERSE(catalog)", "UPDATE barograph_normalized_catalog SET catalog = REVERSE(catalog)", "is damaged"},
		{"RENAME TABLE barograph_normalized_catalog TO moved", "RENAME TABLE moved TO barograph_normalized_catalog", "marks of"},
		{
			"RENAME TABLE barograph_normalized_catalog TO moved, barograph_normalized_marks TO moved_marks",
			"RENAME TABLE moved TO barograph_normalized_catalog, moved_marks TO barograph_normalized_marks", "counts no record",
		},
		{"DELETE FROM barograph_normalized_marks LIMIT 1", "", "marks of"},
	} {
		sql := func(text string) { client(t, server, "mariadb ${to[@]} mv_site -e '"+text+"'") }
		if damage.undo == "" {
			sql("CREATE TABLE moved LIKE barograph_normalized_marks; INSERT INTO moved SELECT * FROM barograph_normalized_marks")
			damage.undo = "DROP TABLE barograph_normalized_marks; RENAME TABLE moved TO barograph_normalized_marks"
		}
		sql(damage.do)
		status, _, stderr := barograph(t, "adopt", site, "--forget")
		if sql(damage.undo); status != fault.Differs || !strings.Contains(stderr, "nothing was dropped") || !strings.Contains(stderr, damage.want) {
			t.Errorf("%s: adopt --forget ends with %d, and does not report %q: %s", damage.do, status, damage.want, stderr)
		}
	}
	must(t, "adopt", site, "--forget")
	must(t, "adopt", site, "--repair")
	must(t, "verify", server, "--subset", "mv_site")
	client(t, server, "mariadb ${to[@]} mv_site"+` -e "DELETE FROM data_file WHERE path LIKE '%/again'"`) // its lines were in the database before
	equal("mv_site", "mv_site_2")

	// Objects add no header to stat_header, as after METdbLoad. Earlier, each of their headers was a row there. The two
	// headers of each side are those of TSOILT and WSOILT, a known fault.
	objects := filepath.Join(t.TempDir(), "mode_obj.txt")
	if err := os.WriteFile(objects, []byte(objectLines), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "load", objects, "--engine", server, "--design", "normalized", "--subset", "mv_site")
	_, out, _ := barograph(t, "diff", server+"mv_site", server+"mv_site_2", "--known", "metdbload")
	if !regexp.MustCompile(`(?m)^stat_header +1017 +0 +2 +2 +4 +0 `).MatchString(out) || !regexp.MustCompile(`(?m)^mode_obj_single +0 +0 +2 `).MatchString(out) {
		t.Errorf("after a load of objects:\n%s", out)
	}

	// mv_prune.sh deletes the lines of a mask, and keeps their headers and files.
	client(t, server, "mariadb ${to[@]} mv_site"+` -e "DELETE l FROM line_data_sal1l2 l, stat_header h WHERE l.stat_header_id = h.stat_header_id AND h.vx_mask = 'G2/NHX'; OPTIMIZE TABLE line_data_sal1l2"`)
	if status, _, _ := barograph(t, "verify", server, "--subset", "mv_site"); status != fault.Differs {
		t.Errorf("pruned: %d", status)
	}
	if status, _, stderr := barograph(t, "adopt", site, "--forget"); status != fault.Differs || !strings.Contains(stderr, "nothing was dropped") {
		t.Errorf("records are gone: %d %s", status, stderr)
	}
	if out := must(t, "verify", server, "--subset", "mv_site", "--prune", "--force"); !strings.Contains(out, ": 630 of ") {
		t.Error(out)
	}
	must(t, "verify", server, "--subset", "mv_site")
}

// A database of an older schema lacks the tables of objects and cyclones and some later columns,
// and has other indexes. It is queried without changes; adopt reports the missing parts and adopts
// it completely. adopt refuses an unknown column and writes nothing.
func TestAdoptOlderSchema(t *testing.T) {
	server := sharedServer(t, "mariadb")
	const name = "mv_older"
	client(t, server, "mariadb ${to[@]} -e 'DROP DATABASE IF EXISTS "+name+"; CREATE DATABASE "+name+"' && xz -dc '"+sharedData(t, "met/metdbload_site/mv_site_1.sql.xz")+"' | mariadb ${to[@]} "+name)
	sql := func(text string) string { return client(t, server, "mariadb ${to[@]} -N "+name+` -e "`+text+`"`) }
	sql(`DROP TABLE mode_header, mode_cts, mode_obj_single, mode_obj_pair, mtd_header, mtd_2d_obj, mtd_3d_obj_single, mtd_3d_obj_pair, tcst_header, line_data_tcmpr,
		line_data_tcdiag, line_data_tcdiag_diag, line_data_probrirw, line_data_probrirw_thresh, metadata, instance_info, line_data_ssidx;
		DROP INDEX line_data_sl1l2_data_file_id_pk ON line_data_sl1l2; DROP INDEX stat_header_unique_pk ON stat_header;
		ALTER TABLE line_data_ctc DROP ec_value; ALTER TABLE line_data_cnt DROP si, DROP si_bcl; ALTER TABLE line_data_sl1l2 DROP mae;
		ALTER TABLE line_data_mctc DROP ec_value; ALTER TABLE stat_header DROP fcst_units, DROP descr;
		CREATE UNIQUE INDEX stat_header_unique_pk ON stat_header (version, model, fcst_var(20), fcst_lev(10), obtype(10), vx_mask(20), fcst_thresh(20), obs_thresh(20));
		SET @c = 'stat_header_id, data_file_id, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end';
		EXECUTE IMMEDIATE CONCAT('INSERT INTO line_data_ctc (', @c, ', line_num, total, fy_oy, fy_on, fn_oy, fn_on) SELECT ', @c, ', 9999, 10, 1, 2, 3, 4 FROM line_data_sl1l2 LIMIT 1');
		EXECUTE IMMEDIATE CONCAT('INSERT INTO line_data_mctc (', @c, ', line_num, line_data_id, total, n_cat) SELECT ', @c, ', 9998, 900, 10, 4 FROM line_data_sl1l2 LIMIT 1')`)
	sum := func() string { return client(t, server, "mariadb-dump ${to[@]} --skip-comments "+name+" | md5sum") }
	before := sum()
	asked := must(t, "ask", "test_3", "--engine", server, "--subset", name, "--valid", "all", "--where", "vx_mask=", "--where", "model=ECM", "--format", "csv")
	if n := strings.Count(asked, "\n"); n != 68 {
		t.Errorf("asked as it is: %d lines\n%.500s", n, asked)
	}
	must(t, "met", "--from", server, "--subset", name, "--engine", "sqlite:"+filepath.Join(t.TempDir(), "a.db"), "--design", "normalized", "--out", filepath.Join(t.TempDir(), "run"), "--reps", "1", "--warmups", "0")
	looked := must(t, "adopt", server+name)
	for _, want := range []string{
		"6,382 rows of 8 line types", "17  missing tables: the schema is older than METviewer 5.1's: instance_info, line_data_probrirw, ", ", mtd_header, tcst_header\n",
		"7  missing columns: the schema is older than METviewer 5.1's: line_data_cnt.si, line_data_cnt.si_bcl, line_data_ctc.ec_value, line_data_mctc.ec_value, line_data_sl1l2.mae, stat_header.descr, stat_header.fcst_units\n",
		"1  missing indexes by data_file_id: the schema is older than METviewer 5.1's: line_data_sl1l2\n",
	} {
		if !strings.Contains(looked, want) {
			t.Errorf("adopt does not say %q:\n%s", want, looked)
		}
	}
	for _, odd := range []struct{ make, undo, want string }{
		{"ALTER TABLE line_data_sl1l2 ADD ours INT", "ALTER TABLE line_data_sl1l2 DROP ours", "line_data_sl1l2 also has ours"},
		{"ALTER TABLE line_data_sl1l2 CHANGE line_num line INT UNSIGNED", "ALTER TABLE line_data_sl1l2 CHANGE line line_num INT UNSIGNED", "line_data_sl1l2 lacks line_num"},
		{"RENAME TABLE line_data_pct_thresh TO away", "RENAME TABLE away TO line_data_pct_thresh", "line_data_pct lacks its line_data_pct_thresh"},
	} {
		sql(odd.make)
		status, _, stderr := barograph(t, "adopt", server+name, "--repair")
		if sql(odd.undo); status != fault.Failed || !strings.Contains(stderr, odd.want) || !strings.Contains(stderr, "nothing was written") {
			t.Errorf("%s: %d %s", odd.want, status, stderr)
		}
	}
	if after := sum(); after != before {
		t.Errorf("before %s after %s", before, after)
	}
	sql(`INSERT INTO line_data_sl1l2 SELECT * FROM line_data_sl1l2 ORDER BY data_file_id, line_num LIMIT 1;
		UPDATE line_data_sl1l2 SET line_num = 9997, fcst_valid_beg = '9998-12-31' ORDER BY data_file_id, line_num LIMIT 1`)
	looked = must(t, "adopt", server+name)
	for _, want := range []string{"6,383 rows of 8 line types (6,382 records)", "1  times out of range: ", ":9997: the valid time is 9998-12-31 00:00:00, outside the years 1678 to 2261)"} {
		if !strings.Contains(looked, want) {
			t.Errorf("adopt does not say %q:\n%s", want, looked)
		}
	}
	if out := must(t, "adopt", server+name, "--repair"); !strings.Contains(out, "(6,382 records)") {
		t.Error(out)
	}
	must(t, "verify", server, "--subset", name)
	if got := sql("SELECT ec_value FROM line_data_ctc UNION ALL SELECT ec_value FROM line_data_mctc; SELECT count(*) FROM information_schema.tables WHERE table_schema = '" + name + "' AND table_name NOT LIKE 'baro%'"); got != "0.5\n0.25\n65\n" {
		t.Errorf("%q", got)
	}
	files := filepath.Join(unpack(t, "met/metdbload_site/site_files.tar.xz"), "site")
	if out := must(t, "load", filepath.Join(files, "stat2"), "--engine", server, "--design", "normalized", "--subset", name); !strings.Contains(out, "4,680 read = 4,680 stored") {
		t.Error(out)
	}
	must(t, "verify", server, "--subset", name)
}
