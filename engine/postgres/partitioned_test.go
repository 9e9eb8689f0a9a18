package postgres_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestPartitioned: partitions, tablespaces, the simple protocol and BRIN change
// neither what is stored nor an answer. The partitioning of a table does not change with a later URL.
func TestPartitioned(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{})}
	files := enginetest.SmallFiles(t, 24)
	spaces := tablespaces(t, d.server)
	var want record.Digest
	for _, query := range []string{"", "?statements=simple", "?partitions=hash:3&statements=simple", "?partitions=range:day&wide_index=brin&tablespaces=" + url.QueryEscape(spaces)} {
		for _, n := range []design.Name{design.Document, design.Normalized, design.Wide} {
			t.Run(query+" "+string(n), func(t *testing.T) {
				at := d.url(t)
				for i, step := range []struct {
					query string
					files []string
				}{{query, files[:9]}, {"", files[9:15]}, {query, files[15:]}} {
					e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), at+step.query, engine.Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					a, err := archive.DatabaseOf(e).Open(t.Context(), n)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := load.Run(t.Context(), a, "a", step.files, load.Options{}); err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
					if i == 2 {
						askPartitioned(t, a, n, step.query)
						c, err := archive.BuildCatalog(t.Context(), a, "a")
						if err != nil {
							t.Fatal(err)
						}
						if got := c.Digest(); want != (record.Digest{}) && got != want {
							t.Errorf("digest %v, want %v", got, want)
						} else {
							want = got
						}
					}
				}
			})
		}
	}
}

// askPartitioned asks an archive of 48 records in every flavour.
func askPartitioned(t *testing.T, a archive.Archive, n design.Name, query string) {
	t.Helper()
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "a day", Subset: "a", Type: lt, Valid: question.Times{First: 1546300800, Last: 1546300800 + 3*21600, Step: 21600}}
	var err error
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg", "fcst_lead", "vx_mask", "fcst_init_beg", "fabar", "mae"); err != nil {
		t.Fatal(err)
	}
	q.Order = q.Columns[:3]
	for _, f := range enginetest.Offered(postgres.Driver())[n] {
		p, err := a.Phrase(t.Context(), q, f)
		if err != nil {
			t.Fatal(err)
		}
		var into answer.Builder
		if err := a.Ask(t.Context(), p, &into); err != nil || into.Rows != 48 || into.Vectors[1].Seconds[0] != 86400 {
			t.Errorf("%s: %d rows, %v; want 48", f, into.Rows, err)
		}
		plan, err := a.Explain(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range plan.Access { // a partitioned table has one access, under its own name
			if strings.Contains(s.Object, "_p") {
				t.Errorf("%s, %s: a partition is named: %+v", query, f, s)
			}
		}
	}
}

// tablespaces creates two folders of the server's account.
func tablespaces(t *testing.T, l *lab.Lab) string {
	t.Helper()
	node := l.State().Cluster.Nodes[0].Dir
	info, err := os.Stat(node)
	if err != nil {
		t.Fatal(err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("NOT TESTED: tablespaces, because this system does not show the owner of a folder")
	}
	var out []string
	for _, name := range []string{"space1", "space2"} {
		dir := filepath.Join(node, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
		out = append(out, dir)
	}
	return strings.Join(out, ",")
}
