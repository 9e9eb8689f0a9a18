package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
)

// publicReport is a public report of another tool, and the attack on an archive that it suggests.
// docs/results/reports.md describes the fault of that tool, and lists the reports that other tests cover.
type publicReport struct {
	source  string // repository and number
	name    string
	engines string // on which the attack makes sense
	attack  func(t *testing.T, v *victim)
}

// The engines of an attack. ClickHouse has no write-ahead log, and its loads are slower.
const (
	withFile   = "duckdb sqlite"
	withFolder = "pebble clickhouse"
	withLog    = withFile + " pebble"
	embedded   = withLog + " clickhouse"
)

// TestPublicReports makes attacks that are taken from public reports of lost, damaged, duplicated or
// disclosed data. After each attack the archive is intact, or a command reports the damage with a cure.
func TestPublicReports(t *testing.T) {
	plainRunOnly(t)
	data, long := fewRecords(t), anomalyFile(t)
	if !enginetest.Nightly() {
		t.Log("by day each attack is made on one of its engines, in turn; at night (" + enginetest.EnvSoak + "=1) on all")
	}
	for engine := range strings.FieldsSeq(embedded) {
		t.Run(engine, func(t *testing.T) {
			if engine == "clickhouse" {
				d, _ := all.Registry().Find(engine)
				enginetest.Installed(t, *d)
			}
			base := filepath.Join(t.TempDir(), "base.db")
			must(t, "load", data, "--engine", engine+":"+base)
			for i, r := range reports() {
				on := strings.Fields(r.engines)
				if !enginetest.Nightly() { // one engine, in turn; ClickHouse's library starts for each command
					on = on[:min(3, len(on))]
					on = on[i%len(on):][:1]
				}
				if !slices.Contains(on, engine) {
					continue
				}
				t.Run(r.source+" "+r.name, func(t *testing.T) {
					dir := t.TempDir()
					v := &victim{engine: engine, dir: dir, path: filepath.Join(dir, "a.db"), data: data, long: long}
					v.url = engine + ":" + v.path
					copyArchive(t, base, v.path)
					r.attack(t, v)
				})
			}
		})
	}
}

// reports lists the attacks.
func reports() []publicReport {
	return []publicReport{
		{"duckdb/duckdb#8592", "log ends in the middle of a record", withLog, func(t *testing.T, v *victim) {
			v.killed(t, v.path)
			log := v.logOf(t, v.path)
			info, err := os.Stat(log)
			check(t, err, os.Truncate(log, info.Size()*2/3))
			v.continued(t, v.path)
		}},
		{"etcd-io/etcd#16596", "log ends in zeros", withLog, func(t *testing.T, v *victim) {
			v.killed(t, v.path)
			log := v.logOf(t, v.path)
			info, err := os.Stat(log)
			check(t, err, os.Truncate(log, info.Size()*2/3), os.Truncate(log, info.Size()))
			if o := runCommand(t, "load", v.long, "--engine", v.url); o.status == fault.Differs {
				refused(t, o, "a.db", fault.Differs) // DuckDB takes zeros for a damage
				return
			}
			v.continued(t, v.path)
		}},
		{"etcd-io/etcd#12487", "second half is zeros", withLog, func(t *testing.T, v *victim) {
			rows, file := v.rows(t), v.largest(t)
			info, err := os.Stat(file)
			check(t, err, os.Truncate(file, info.Size()/2), os.Truncate(file, info.Size()))
			v.found(t, rows)
		}},
		{"alibaba/AliSQL#157", "second half is missing", embedded, func(t *testing.T, v *victim) {
			rows, file := v.rows(t), v.largest(t)
			info, err := os.Stat(file)
			check(t, err, os.Truncate(file, info.Size()/2))
			v.found(t, rows)
		}},
		{"ulsklyc/yuvomi#1282", "empty file", withFile, func(t *testing.T, v *victim) {
			check(t, os.Truncate(v.path, 0))
			for _, args := range [][]string{{"verify", v.url}, {"show", v.url}} {
				refused(t, runCommand(t, args...), "a.db", fault.Failed, fault.Differs, fault.Unreachable)
			}
			o := runCommand(t, "load", v.data, "--engine", v.url)
			if o.status == 0 { // SQLite takes it for a new file: it must have all files again, not only later ones
				v.intact(t)
				return
			}
			refused(t, o, "a.db", fault.Differs, fault.Unreachable)
		}},
		{"tursodatabase/turso#8103", "empty file with a log", withFile, func(t *testing.T, v *victim) {
			v.killed(t, v.path)
			log := v.logOf(t, v.path)
			before, err := os.ReadFile(log)
			check(t, err, os.Truncate(v.path, 0))
			refused(t, runCommand(t, "load", v.data, "--engine", v.url), "a.db", fault.Differs, fault.Unreachable)
			if after, err := os.ReadFile(log); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the log, which has the last commits, was changed: %v", err)
			}
		}},
		{"tikv/tikv#19963", "pointer file is missing", "pebble", func(t *testing.T, v *victim) {
			markers, err := filepath.Glob(filepath.Join(v.path, "marker.manifest.*"))
			check(t, err)
			for _, m := range markers {
				check(t, os.Remove(m))
			}
			before := bytesOf(t, v.path)
			for _, args := range [][]string{{"verify", v.url}, {"show", v.url}, {"load", v.data, "--engine", v.url}} {
				refused(t, runCommand(t, args...), "a.db", fault.Differs, fault.Unreachable)
			}
			if after := bytesOf(t, v.path); after < before {
				t.Errorf("%d bytes are left of %d", after, before)
			}
		}},
		{"facebook/rocksdb#8682", "list of files is empty", "pebble", func(t *testing.T, v *victim) {
			lists, err := filepath.Glob(filepath.Join(v.path, "MANIFEST-*"))
			check(t, err, os.Truncate(slices.Max(lists), 0))
			before := bytesOf(t, v.path)
			for _, args := range [][]string{{"verify", v.url}, {"show", v.url}, {"load", v.data, "--engine", v.url}} {
				refused(t, runCommand(t, args...), "a.db", fault.Differs, fault.Unreachable)
			}
			if after := bytesOf(t, v.path); after < before {
				t.Errorf("%d bytes are left of %d", after, before)
			}
		}},
		{"ClickHouse/ClickHouse#116490", "small file of a part is empty", "clickhouse", func(t *testing.T, v *victim) {
			rows := v.rows(t)
			for _, name := range []string{"columns.txt", "metadata_version.txt", "columns_substreams.txt", "count.txt"} {
				parts, err := filepath.Glob(filepath.Join(v.path, "store", "*", "*", "all_*", name))
				if check(t, err); len(parts) == 0 {
					continue
				}
				was, err := os.ReadFile(parts[0])
				check(t, err, os.Truncate(parts[0], 0))
				v.found(t, rows)
				check(t, os.WriteFile(parts[0], was, 0o600))
			}
		}},
		{"DataBiosphere/toil#2947", "second name of the file, without its log", withFile, func(t *testing.T, v *victim) {
			alias := filepath.Join(v.dir, "alias.db")
			v.killed(t, v.path)
			v.logOf(t, v.path)
			check(t, os.Link(v.path, alias))
			o := runCommand(t, "load", v.data, "--engine", v.engine+":"+alias)
			if o.status != 0 {
				refused(t, o, "alias.db", fault.Unreachable)
			}
			v.continued(t, v.path)
		}},
		{"ncruces/go-sqlite3#276", "archive is a symbolic link", withLog, func(t *testing.T, v *victim) {
			check(t, os.Mkdir(filepath.Join(v.dir, "links"), 0o700))
			link := filepath.Join(v.dir, "links", "link.db")
			check(t, os.Symlink(v.path, link))
			v.killed(t, link)
			o := runCommand(t, "verify", v.url)
			through := runCommand(t, "verify", v.engine+":"+link)
			if o.status != through.status || strings.ReplaceAll(o.text, v.path, link) != through.text {
				t.Errorf("by its own name: status %d\n%s\nby the link: status %d\n%s",
					o.status, o.text, through.status, through.text)
			}
			v.continued(t, v.path)
		}},
		{"sonichi/sutando#1040", "copy of the file during a load", withLog, func(t *testing.T, v *victim) {
			s := v.loading(t, v.path)
			backup := filepath.Join(v.dir, "backup.db")
			copyArchive(t, v.path, backup) // without the log that is next to it
			s.signal(t, syscall.SIGCONT)
			if o := s.wait(t); o.status != 0 {
				t.Errorf("the load: status %d\n%s", o.status, o.text)
			}
			v.intact(t, v.data, v.long)
			v.continued(t, backup)
		}},
		{"benbjohnson/litestream#781", "older copy is restored", embedded, func(t *testing.T, v *victim) {
			older := filepath.Join(v.dir, "older.db")
			copyArchive(t, v.path, older)
			must(t, "load", v.long, "--engine", v.url)
			check(t, os.RemoveAll(v.path), os.Rename(older, v.path))
			must(t, "load", v.data, v.long, "--engine", v.url)
			v.intact(t, v.data, v.long)
		}},
		{"Mithril-mine/libmdbx#144", "descriptors 0, 1 and 2 are closed", embedded, func(t *testing.T, v *victim) {
			shell := `exec "$@" <&- >&- 2>&-`
			if o := v.load(t, shell, "--quarantine", filepath.Join(v.dir, "q")); o.text != "" {
				t.Errorf("status %d: %s", o.status, o.text)
			}
			must(t, "load", v.long, "--engine", v.url)
			v.intact(t, v.data, v.long)
		}},
		{"mongodb-partners/mongo-rocks#128", "limit of a file's size", "sqlite pebble duckdb", func(t *testing.T, v *victim) {
			refused(t, v.load(t, "ulimit -f 200; "+plainCommand, "--window", "500"),
				"too large", fault.Failed, fault.Unreachable)
			v.continued(t, v.path)
		}},
		{"facebook/rocksdb#164", "limit of open files", withLog, func(t *testing.T, v *victim) {
			for _, n := range []int{10, 14, 18} {
				shell := fmt.Sprintf(`ulimit -n %d; exec "$@"`, n)
				if o := v.load(t, shell); o.status != 0 {
					refused(t, ending{o.status, o.text + "; "}, "too many open files", fault.Failed, fault.Unreachable)
				}
			}
			v.continued(t, v.path)
		}},
		{"borgbackup/borg#1593", "SIGHUP during a load", withLog, func(t *testing.T, v *victim) {
			v.signalled(t, syscall.SIGHUP)
		}},
		{"restic/restic#1710", "SIGINT during a load", withLog, func(t *testing.T, v *victim) {
			v.signalled(t, syscall.SIGINT)
		}},
		{"restic/restic#1413", "nobody reads the output", withLog, func(t *testing.T, v *victim) {
			bad := put(t, v.dir, "bad.vsdb", strings.Replace(sal1l2, " 24 ", " 2x ", 1)) // a line on stderr
			shell := `{ "$@"; echo "status $?" >` + filepath.Join(v.dir, "status") + `; } 2>&1 | true`
			startShell(t, shell, "load", bad, v.long, "--engine", v.url).wait(t)
			if text, err := os.ReadFile(filepath.Join(v.dir, "status")); err != nil || string(text) == "status 0\n" {
				t.Errorf("%s, %v", text, err)
			}
			v.continued(t, v.path)
		}},
		{"kopia/kopia#1949", "load sleeps, and another one starts", withLog, func(t *testing.T, v *victim) {
			s := v.loading(t, v.path)
			refused(t, v.load(t, plainCommand, "--wait", "0s"), "is being loaded by process", fault.Unreachable)
			s.signal(t, syscall.SIGCONT)
			if o := s.wait(t); o.status != 0 {
				t.Errorf("status %d\n%s", o.status, o.text)
			}
			v.intact(t, v.data, v.long)
		}},
		{"kopia/kopia#1087", "two loads create one archive", withLog, func(t *testing.T, v *victim) {
			v.path = filepath.Join(v.dir, "new.db")
			v.url = v.engine + ":" + v.path
			var both []*shellProcess
			for range 2 {
				both = append(both, startShell(t, plainCommand, "load", v.data, v.long, "--engine", v.url))
			}
			for _, s := range both {
				if o := s.wait(t); o.status != 0 {
					t.Errorf("status %d\n%s", o.status, o.text)
				}
			}
			v.intact(t, v.data, v.long)
		}},
		{"borgbackup/borg#9870", "lock of another host, by another clock", embedded, func(t *testing.T, v *victim) {
			for _, since := range []time.Time{time.Now().Add(-1000 * time.Hour), time.Now().Add(1000 * time.Hour)} {
				text, err := json.Marshal(design.Loading{PID: 1, Host: "another", Since: since, Command: "barograph load x"})
				check(t, err, os.WriteFile(v.path+".loading", text, 0o600))
				o := runCommand(t, "load", v.long, "--engine", v.url, "--wait", "0s")
				refused(t, o, "remove "+v.path+".loading", fault.Unreachable)
			}
			check(t, os.Remove(v.path+".loading"))
			v.intact(t)
		}},
		{"moxystudio/node-proper-lockfile#109", "lock from the future", embedded, func(t *testing.T, v *victim) {
			dead := child(t, "version")
			_ = dead.Wait()
			l := (&env{args: []string{"load", "x"}}).loadingProcess()
			l.PID, l.Since = dead.Process.Pid, time.Now().Add(1000*time.Hour)
			text, err := json.Marshal(l)
			check(t, err, os.WriteFile(v.path+".loading", text, 0o600))
			must(t, "load", v.long, "--engine", v.url, "--wait", "0s")
			v.intact(t, v.data, v.long)
		}},
		{"duplicati/duplicati#656", "files from the future and from before 1970", withLog, func(t *testing.T, v *victim) {
			for _, when := range []int64{-2e9, 0, 8e9} {
				check(t, filepath.WalkDir(v.data, func(path string, e fs.DirEntry, err error) error {
					if err != nil || e.IsDir() {
						return err
					}
					return os.Chtimes(path, time.Time{}, time.Unix(when, 0))
				}))
				if o := runCommand(t, "load", v.data, "--engine", v.url); o.status != 0 || !strings.Contains(o.text, "0 loaded") {
					t.Errorf("status %d\n%s", o.status, o.text)
				}
			}
			v.intact(t)
		}},
		{"restic/restic#1238", "another time zone", embedded, func(t *testing.T, v *victim) {
			rows := v.rows(t)
			for _, zone := range []string{"America/New_York", "Asia/Kolkata", "Pacific/Apia"} {
				o := startShell(t, "TZ="+zone+` exec "$@"`, "load", v.data, "--engine", v.url).wait(t)
				if o.status != 0 || !strings.Contains(o.text, "0 loaded") {
					t.Errorf("status %d\n%s", o.status, o.text)
				}
				s := startShell(t, "TZ="+zone+` exec "$@" 2>/dev/null`, v.question()...)
				if o := s.wait(t); o.text != rows {
					t.Errorf("%s: %s", zone, o.text)
				}
			}
			v.intact(t)
		}},
		{"openclaw/wacli#139", "umask 077", embedded, func(t *testing.T, v *victim) {
			v.path = filepath.Join(v.dir, "sub", "private.db")
			shell := `umask 077; exec "$@"`
			s := startShell(t, shell, "load", v.data, "--engine", v.engine+":"+v.path)
			if o := s.wait(t); o.status != 0 {
				t.Errorf("status %d\n%s", o.status, o.text)
			}
			for _, args := range [][]string{
				{"ask", "all_sal1l2_hgt", "--engine", v.engine + ":" + v.path, "--out", filepath.Join(v.dir, "sub", "rows.csv")},
				{"load", v.long, "--engine", v.engine + ":" + v.path, "--quarantine", filepath.Join(v.dir, "sub", "lines.csv")},
			} {
				if o := startShell(t, shell, args...).wait(t); o.status != 0 {
					t.Errorf("%v: status %d\n%s", args, o.status, o.text)
				}
			}
			private(t, filepath.Join(v.dir, "sub"))
		}},
		{"ducks/claux#2", "log of a private archive", "sqlite pebble", func(t *testing.T, v *victim) {
			check(t, os.Chmod(v.path, map[bool]fs.FileMode{true: 0o700, false: 0o600}[v.engine == "pebble"]))
			v.killed(t, v.path)
			if v.engine == "pebble" {
				return // the folder is private
			}
			if info, err := os.Stat(v.logOf(t, v.path)); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("the log is %v, %v", info.Mode(), err)
			}
		}},
		{"fr-ser/grafana-sqlite-datasource#167", "folder may only be read", embedded, func(t *testing.T, v *victim) {
			needsRoot(t)
			rows := v.rows(t)
			v.protect(t)
			o := startShell(t, withoutPrivileges+" 2>/dev/null", v.question()...).wait(t)
			if o.text != rows {
				o = startShell(t, withoutPrivileges, "verify", v.url).wait(t)
				refused(t, o, "a.db", fault.Unreachable)
			}
		}},
		{"redis/redis#3428", "permission to write is lost", embedded, func(t *testing.T, v *victim) {
			needsRoot(t)
			v.protect(t)
			refused(t, v.load(t, withoutPrivileges), "a.db", fault.Failed, fault.Unreachable)
			v.restore(t)
			v.continued(t, v.path)
		}},
		{"dolthub/doltlite#1857", "permission to write is lost during a load", withLog, func(t *testing.T, v *victim) {
			needsRoot(t)
			before := bytesOf(t, v.dir)
			s := startShell(t, withoutPrivileges, "load", v.long, "--engine", v.url, "--window", "50")
			for range 3000 {
				if bytesOf(t, v.dir) > before+50<<10 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			v.protect(t)
			if o := s.wait(t); o.status != 0 {
				refused(t, o, "a.db", fault.Failed, fault.Unreachable)
			}
			v.restore(t)
			v.continued(t, v.path)
		}},
		{"duckdb/duckdb#19343", "log is removed during a load", withFile, func(t *testing.T, v *victim) {
			s := v.loading(t, v.path)
			check(t, os.Remove(v.logOf(t, v.path)))
			s.signal(t, syscall.SIGCONT)
			if o := s.wait(t); o.status != 0 {
				refused(t, o, "a.db", fault.Failed, fault.Differs, fault.Unreachable)
			} else {
				v.intact(t, v.data, v.long)
			}
		}},
		{"duckdb/duckdb#19879", "folder for temporary data is missing", embedded, func(t *testing.T, v *victim) {
			deep := filepath.Join(v.dir, strings.Repeat("long/", 30))
			check(t, os.MkdirAll(deep, 0o700))
			for _, dir := range []string{filepath.Join(v.dir, "gone"), "/proc/self", deep} {
				shell := "TMPDIR=" + dir + ` exec "$@"`
				for _, args := range [][]string{{"load", v.long, "--engine", v.url}, {"verify", v.url}} {
					if o := startShell(t, shell, args...).wait(t); o.status != 0 {
						refused(t, o, "TMPDIR", fault.Failed, fault.Unreachable)
					}
				}
			}
			v.continued(t, v.path)
		}},
		{"duckdb/duckdb-r#2562", "little memory, and no folder to spill", "duckdb", func(t *testing.T, v *victim) {
			for _, limit := range []string{"4MB", "20MB"} {
				url := v.url + "?memory_limit=" + limit + "&temp_directory=/proc/self/none"
				if o := runCommand(t, "load", v.long, "--engine", url); o.status != 0 {
					refused(t, o, "run it again to continue", fault.Failed, fault.Unreachable)
				}
			}
			v.continued(t, v.path)
		}},
		{"python/cpython#145475", "long paths and names", embedded, func(t *testing.T, v *victim) {
			for _, path := range []string{
				filepath.Join(v.dir, strings.Repeat("n", 255)), filepath.Join(v.dir, strings.Repeat("n", 250)),
				filepath.Join(v.dir, strings.Repeat("n", 246)), filepath.Join(v.dir, strings.Repeat("folder/", 80), "a.db"),
				filepath.Join(v.dir, strings.Repeat("folder/", 600), "a.db"),
			} {
				url := v.engine + ":" + path
				if o := runCommand(t, "load", v.data, "--engine", url); o.status != 0 {
					refused(t, o, "", fault.Failed, fault.Unreachable)
				} else if o := runCommand(t, "verify", url, v.data); o.status != 0 {
					t.Errorf("%d bytes: status %d\n%s", len(path), o.status, o.text)
				}
			}
		}},
		{"calebevans/mulder#86", "names with ?, %, #, quotes and ends of lines", embedded, func(t *testing.T, v *victim) {
			for _, name := range []string{
				"a?mode=memory&x=.db", "report%20final.db", "a#b?c#.db", "-rf", "it's \"a\".db", "a\nb.db", "a;b.db", "ü☃.db",
			} {
				dir := t.TempDir()
				t.Chdir(dir)
				escaped := strings.NewReplacer("%", "%25", "?", "%3F", " ", "%20", "\n", "%0A").Replace(name)
				o := runCommand(t, "load", v.data, "--engine", v.engine+":"+escaped)
				if o.status == fault.Usage {
					refused(t, o, name, fault.Usage)
					continue
				}
				if o.status != 0 {
					t.Errorf("%q: status %d\n%s", name, o.status, o.text)
				}
				must(t, "verify", v.engine+":"+escaped, v.data)
				entries, err := os.ReadDir(dir)
				check(t, err)
				for _, e := range entries {
					if !strings.HasPrefix(e.Name(), name) { // SQLite's log has the name, too
						t.Errorf("%q: the folder has %q", name, e.Name())
					}
				}
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
		}},
		{"arangodb/arangodb#1441", "names that differ in case", embedded, func(t *testing.T, v *victim) {
			dir := t.TempDir()
			put(t, dir, "a.vsdb", sal1l2)
			put(t, dir, "A.vsdb", strings.Replace(sal1l2, " 24 ", " 48 ", 1))
			for _, subset := range []string{"retro", "Retro"} {
				must(t, "load", dir, "--engine", v.url, "--subset", subset)
			}
			other := put(t, t.TempDir(), "b.vsdb", strings.Replace(sal1l2, " 24 ", " 72 ", 1))
			must(t, "load", other, "--engine", v.url, "--subset", "RETRO")
			if out := must(t, "verify", v.url, dir, "--subset", "Retro"); !strings.Contains(out, "intact") {
				t.Error(out)
			}
			v.intact(t)
		}},
		{"duplicati/duplicati#876", "pipes in place of files", withFile, func(t *testing.T, v *victim) {
			pipe := filepath.Join(v.dir, "pipe.db")
			check(t, syscall.Mkfifo(pipe, 0o600))
			for _, args := range [][]string{
				{"verify", v.engine + ":" + pipe}, {"show", pipe}, {"load", v.data, "--engine", v.engine + ":" + pipe},
			} {
				refused(t, startShell(t, plainCommand, args...).wait(t), "pipe.db", fault.Usage, fault.Incomplete, fault.Unreachable)
			}
			check(t, syscall.Mkfifo(v.path+".loading", 0o600))
			for _, args := range [][]string{{"verify", v.url}, {"load", v.long, "--engine", v.url}} {
				if o := startShell(t, plainCommand, args...).wait(t); o.status != 0 {
					refused(t, o, "a.db", fault.Unreachable)
				}
			}
			v.continued(t, v.path)
		}},
		{"dathere/qsv#4580", "output is the archive, or a file to load", withFile, func(t *testing.T, v *victim) {
			in := filepath.Join(v.dir, "in.vsdb")
			copyArchive(t, v.long, in)
			link, db := filepath.Join(v.dir, "link.csv"), filepath.Join(v.dir, "new.db")
			if err := os.Symlink(in, link); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"ask", "all_sal1l2_hgt", "--engine", v.url, "--out", v.path},
				{"load", in, "--engine", v.url, "--quarantine", v.path},
				{"load", in, "--engine", v.url, "--quarantine", in},
				{"load", in, "--engine", v.engine + ":" + db, "--quarantine", link},
				{"load", in, "--engine", v.engine + ":" + db, "--quarantine", db},
				{"verify", v.url, "--salvage", v.url},
			} {
				if o := runCommand(t, args...); o.status == 0 {
					t.Errorf("%v is accepted: %s", args, o.text)
				}
			}
			if _, err := os.Stat(db); err == nil {
				t.Error("a refused load created an archive")
			}
			must(t, "load", in, "--engine", v.url)
			v.intact(t, v.data, v.long)
		}},
		{"prometheus/prometheus#953", "lost+found", withFolder, func(t *testing.T, v *victim) {
			mount := filepath.Join(v.dir, "mount")
			check(t, os.MkdirAll(filepath.Join(mount, "lost+found"), 0o700))
			if o := runCommand(t, "load", v.data, "--engine", v.engine+":"+mount); o.status != 0 {
				refused(t, o, "lost+found", fault.Unreachable)
			}
			check(t, os.Mkdir(filepath.Join(v.path, "lost+found"), 0o700))
			v.intact(t)
		}},
		{"borgbackup/borg#5144", "folder of files cannot be read", "sqlite", func(t *testing.T, v *victim) {
			needsRoot(t)
			open, closed := filepath.Join(v.dir, "open"), filepath.Join(v.dir, "open", "closed")
			check(t, os.MkdirAll(closed, 0o700), os.Chmod(closed, 0o000))
			copyArchive(t, v.long, filepath.Join(open, "long.vsdb"))
			o := startShell(t, withoutPrivileges, "load", closed, "--engine", v.url).wait(t)
			refused(t, o, "closed", fault.Failed, fault.Incomplete)
			o = startShell(t, withoutPrivileges, "load", open, "--engine", v.url).wait(t)
			refused(t, o, "closed", fault.Incomplete)
			v.intact(t, v.data, v.long)
		}},
		{"kestra-io/plugin-jdbc#241", "archive of a later version of the engine", withLog, func(t *testing.T, v *victim) {
			rows := v.rows(t)
			switch v.engine {
			case "duckdb":
				overwrite(t, v.path, 12, 0x63)
			case "sqlite":
				overwrite(t, v.path, 19, 9)
			case "pebble":
				markers, err := filepath.Glob(filepath.Join(v.path, "marker.format-version.*"))
				check(t, err)
				later := markers[0][:len(markers[0])-3] + "999"
				check(t, os.Rename(markers[0], later))
			}
			v.found(t, rows)
			if o := runCommand(t, "load", v.long, "--engine", v.url); o.status == 0 {
				t.Errorf("the load is accepted: %s", o.text)
			}
		}},
		{"borgbackup/borg#9573", "disk without one free byte", withLog, func(t *testing.T, v *victim) {
			disk := smallDisk(t)
			rows, was := v.rows(t), v.path
			v.path = filepath.Join(disk, "a.db")
			v.url = v.engine + ":" + v.path
			copyArchive(t, was, v.path)
			filler := fillDisk(t, disk)
			if status, stdout, stderr := barograph(t, v.question()...); stdout != rows {
				refused(t, ending{status, stderr}, "a.db", fault.Failed, fault.Unreachable)
			}
			refused(t, v.load(t, plainCommand), "a.db", fault.Failed, fault.Unreachable)
			check(t, os.Remove(filler))
			v.continued(t, v.path)
		}},
		{"Unity-Technologies/UnityDataTools#138", "load of nothing into an archive", embedded, func(t *testing.T, v *victim) {
			for _, from := range []string{t.TempDir(), filepath.Join(v.dir, "typo"), ""} {
				if o := runCommand(t, "load", from, "--engine", v.url); o.status == 0 {
					t.Errorf("load %q: status 0\n%s", from, o.text)
				}
			}
			v.intact(t)
		}},
	}
}

// smallDisk mounts a disk of 40 MiB and returns its folder.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=40m"); err != nil {
		t.Skip("NOT TESTED: a small disk needs root: ", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	return disk
}

// fillDisk leaves no free byte on a small disk and returns the file that takes the space.
func fillDisk(t *testing.T, disk string) string {
	t.Helper()
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 41<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return filler
}
