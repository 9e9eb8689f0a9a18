package question

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/record"
)

// metviewerSQL is what METviewer sends for two statistics of one plot.
const metviewerSQL = `SELECT
  model,
  ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, vx_mask, fcst_lev, HOUR(fcst_init_beg) init_hour,
'TMP' fcst_var,
  'RMSE' stat_name,
  'NA' stat_value, ld.total, ld.fbar, ld.obar, ld.fobar, ld.ffbar, ld.oobar, ld.mae
FROM   stat_header h,   line_data_sl1l2 ld
WHERE   BINARY h.vx_mask IN ('CONUS')   AND   BINARY h.fcst_lev IN ('Z2')   AND HOUR(ld.fcst_init_beg) IN ('00', '12')
  AND   BINARY ld.fcst_valid_beg BETWEEN '2024-01-01 00:00:00' AND '2024-01-31 18:00:00'
  AND   BINARY h.model IN ('A AND B', 'it''s')   AND   BINARY ld.fcst_lead IN ('60000','120000')
  AND   BINARY h.fcst_var = 'TMP'   AND ld.stat_header_id = h.stat_header_id
UNION ALL SELECT model, 'TMP' fcst_var, 'ME' stat_name FROM stat_header h, line_data_sl1l2 ld
WHERE BINARY h.vx_mask IN ('CONUS') AND BINARY h.fcst_lev IN ('Z2') AND HOUR(ld.fcst_init_beg) IN ('00', '12')
  AND BINARY ld.fcst_valid_beg BETWEEN '2024-01-01 00:00:00' AND '2024-01-31 18:00:00'
  AND BINARY h.model IN ('A AND B', 'it''s') AND BINARY ld.fcst_lead IN ('60000','120000')
  AND BINARY h.fcst_var = 'TMP' AND ld.stat_header_id = h.stat_header_id;
`

const metexpressSQL = "select ld.fcst_lead as fcst_lead, sum(ld.total) as n0 from mv.stat_header h, mv.line_data_sal1l2 ld where 1=1 and unix_timestamp(ld.fcst_valid_beg) >= '1546300800' " +
	"and unix_timestamp(ld.fcst_valid_beg) <= '1561939140' and h.model='GFS' and h.vx_mask IN('G2/NHX') and unix_timestamp(ld.fcst_valid_beg)%(24*3600)/3600 IN('0','12') " +
	"and h.fcst_lev IN('P500','P500=') and h.stat_header_id = ld.stat_header_id group by fcst_lead order by fcst_lead"

// TestMixOfALinkedFolder: a folder of plots may be a symbolic link.
func TestMixOfALinkedFolder(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "formats", "metviewer", "testdata", "plot.xml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "plots")
	if err := os.WriteFile(filepath.Join(dir, "plot.xml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("NOT TESTED: no symbolic links: ", err)
	}
	if qs, notes, err := ReadMix(link); err != nil || len(qs) == 0 {
		t.Errorf("%d questions, %v, %v", len(qs), notes, err)
	}
}

// TestMixOfLogs: each kind of log gives the same questions.
func TestMixOfLogs(t *testing.T) {
	general := "/usr/sbin/mariadbd, Version: 10.11\n241122  9:50:24\t    12 Connect\tmv@localhost on mv\n\t\t    12 Query\t" + metviewerSQL +
		"\t\t    12 Query\t" + metexpressSQL + "\n\t\t    13 Query\tSELECT 1\n241122  9:50:25\t    13 Query\t" + metexpressSQL + "\n\t\t    13 Quit\t\n" +
		"\t\t    14 Query\tSELECT DISTINCT fcst_valid_beg FROM (SELECT DISTINCT fcst_valid_beg FROM line_data_sl1l2) ll\n"
	slow := "# Time: 241122  9:50:24\n# User@Host: mv[mv] @ localhost []\n# Query_time: 1.2\nSET timestamp=1732269024;\n" + metviewerSQL + "# Time: 241122  9:51:24\nSET timestamp=1732269024;\n" + metexpressSQL + ";\n" + metexpressSQL + ";\n"
	own := "2024-11-22 09:50:24 DEBUG [MVBatch] - query 1:\n" + metexpressSQL + ";\n" + metexpressSQL + ";\n2024-11-22 09:50:24 DEBUG " + metviewerSQL
	for what, log := range map[string]string{"general": general, "slow": slow, "METviewer's": own} {
		file := filepath.Join(t.TempDir(), "day.log")
		if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		qs, notes, err := ReadMix(file)
		// METviewer's statement occurs once, but counts twice: once for each SELECT of its UNION.
		if err != nil || len(qs) != 2 || qs[0].Weight != 2 || qs[1].Weight != 2 {
			t.Errorf("%s: %d questions, %q, %v", what, len(qs), notes, err)
			continue
		}
		if text := strings.Join(notes, "\n"); strings.Contains(text, "1 statements") != (what == "general") {
			t.Errorf("%s: %s", what, text)
		}
		for _, q := range qs {
			h := q.Header
			switch q.Type.Name {
			case "SL1L2":
				if !reflect.DeepEqual(h[record.Model], []string{"A AND B", "it's"}) || h[record.FcstVar][0] != "TMP" || len(q.Lead) != 2 || q.Lead[1] != 12*3600 ||
					len(q.TimeFilter.InitHour) != 2 || q.Valid.Last != time.Date(2024, 1, 31, 18, 0, 0, 0, time.UTC).Unix() || q.Drawing.Stats[0] != "RMSE" {
					t.Errorf("%s: %+v", what, q)
				}
			default:
				if q.Type.Name != "SAL1L2" || q.Valid.First != 1546300800 || q.Valid.Last != 1561939140 || len(h[record.FcstLev]) != 2 || len(q.TimeFilter.ValidHour) != 2 {
					t.Errorf("%s: %+v", what, q)
				}
			}
			same(t, q)
		}
	}
}

// The notes contain the reasons of the first three statements that cannot be read, and the number of all of them.
func TestNotesOfUnreadStatements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "day.sql")
	for _, unread := range []int{0, 2, 3, 4, 6} {
		text := metexpressSQL + ";\n" + strings.Repeat("SELECT total FROM line_data_nosuch WHERE 1=1;\n", unread)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		qs, notes, err := ReadMix(file)
		if err != nil || len(qs) != 1 {
			t.Fatalf("%d questions, %v", len(qs), err)
		}
		reasons := strings.Count(strings.Join(notes, "\n"), "line type nosuch is not supported")
		last := ""
		if len(notes) > 0 {
			last = notes[len(notes)-1]
		}
		if reasons != min(unread, 3) || strings.HasPrefix(last, fmt.Sprintf("%d statements ", unread)) != (unread > 0) {
			t.Errorf("%d statements: notes %q", unread, notes)
		}
	}
}

// TestMixOfTimes: lists of times, and a range with only one limit.
func TestMixOfTimes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "day.sql")
	text := "SELECT 'ME' stat_name FROM stat_header h, line_data_sl1l2 ld WHERE h.model = 'GFS' AND ld.fcst_valid_beg IN ('2024-01-02 00:00:00', '2024-01-05')\n AND ld.fcst_init_beg >= '2023-12-31' AND fcst_lead IN (240000);\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	qs, notes, err := ReadMix(file)
	if err != nil || len(qs) != 1 || len(qs[0].Valid.List) != 2 || qs[0].TimeFilter.Init.First != time.Date(2023, 12, 31, 0, 0, 0, 0, time.UTC).Unix() || qs[0].Lead[0] != 86400 {
		t.Errorf("%+v, %q, %v", qs, notes, err)
	}
}

// TestMixOfPlots: a folder of plots, and a file that names them, one twice.
func TestMixOfPlots(t *testing.T) {
	from, err := os.ReadFile(filepath.Join("..", "..", "formats", "metviewer", "testdata", "plot.xml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "day.txt")
	for name, text := range map[string]string{"a.xml": string(from), "b.xml": string(from), "day.txt": "a.xml\nb.xml\n\na.xml\nc.xml\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, times := range map[string]int{dir: 2, list: 3} {
		qs, notes, err := ReadMix(path)
		if err != nil || len(qs) == 0 || strings.Contains(strings.Join(notes, " "), "c.xml") != (path == list) {
			t.Fatalf("%d questions, %q, %v", len(qs), notes, err)
		}
		for _, q := range qs {
			if q.Weight != times {
				t.Errorf("%s: %s weighs %d, want %d", path, q.Name, q.Weight, times)
			}
		}
	}
	if _, _, err := ReadMix(filepath.Join(dir, "none")); err == nil {
		t.Error("no file, no error")
	}
	if err := os.WriteFile(list, []byte("nothing of the kind\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadMix(list); err == nil || !strings.Contains(err.Error(), "contains no question") {
		t.Error(err)
	}
}
