package own_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// report is a public report of a fault in another program, with files and a query that reproduce its subject, and with
// what Barograph must do with them.
type report struct {
	source  string   // repository#number
	subject string   // of the report
	files   []string // names and texts
	query   string
	rows    string      // the rows of the query as --save-results writes them, derived by hand from the files
	sqlite  string      // the rows of SQLite if they are written differently
	verdict run.Verdict // of SQLite's result; "" = any correct one
	problem string      // a part of the errors of the run and its samples; "" = none
	account string      // a part of the accounting of the files
	open    bool        // the query does not determine its result
}

// lines returns a text with a line for each number from 1 to n.
func lines(head string, n int, line func(i int) string) string {
	var b strings.Builder
	b.WriteString(head + "\n")
	for i := 1; i <= n; i++ {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// reports returns the public reports.
func reports(t *testing.T) []report {
	t.Helper()
	type number struct {
		ID int64   `parquet:"id"`
		X  float64 `parquet:"x"`
	}
	type id struct {
		ID int64 `parquet:"id"`
	}
	return []report{
		// Rows that are missing.
		{
			source: "apache/datafusion#4918", subject: "two CSV files list the same columns in a different order",
			files: []string{"t/a.csv", "a,b\n1,2\n3,4", "t/b.csv", "b,a\n1,2\n3,4"},
			query: "SELECT a, b FROM t ORDER BY a", rows: "1,2\n2,1\n3,4\n4,3\n",
		},
		{
			source: "duckdb/duckdb#24139", subject: "the values of a column that only a later file has are lost",
			files: []string{"t/1.csv", "a\n1\n", "t/2.csv", "a,b\n2,3\n"},
			query: "SELECT a, b FROM t ORDER BY a", rows: "1,\n2,3\n",
		},
		{
			source: "pola-rs/polars#13177", subject: "a Hive partition's column of codes is read as whole numbers",
			files: []string{
				"t/code=01001/p.parquet", parquetOf(t, id{1}), "t/code=01002/p.parquet", parquetOf(t, id{2}),
				"t/code=2A001/p.parquet", parquetOf(t, id{3}),
			},
			query: "SELECT code, id FROM t ORDER BY code", rows: "\"01001\",1\n\"01002\",2\n\"2A001\",3\n",
		},
		{
			source: "pola-rs/polars#11284", subject: "a single file in a Hive partition has no partition columns",
			files: []string{"t/part_id_1=1/part_id_2=A/p.parquet", parquetOf(t, id{7})},
			query: "SELECT id, part_id_1, part_id_2 FROM t", rows: "7,1,\"A\"\n",
		},
		{
			source: "pola-rs/polars#21762", subject: "a file whose name starts with _ is in each partition folder",
			files: []string{
				"t/key=a/p.parquet", parquetOf(t, id{1}), "t/key=a/_other.txt", "x",
				"t/key=b/p.parquet", parquetOf(t, id{2}), "t/key=b/_other.txt", "x",
			},
			query: "SELECT key, id FROM t ORDER BY key", rows: "\"a\",1\n\"b\",2\n",
			account: "t/key=b/_other.txt: its name starts with _",
		},
		{
			source: "apache/arrow#7857", subject: "the files of a folder whose name starts with _ are ignored silently",
			files: []string{"t/a.csv", "id\n1\n", "t/_split_data/b.csv", "id\n2\n"},
			query: "SELECT id FROM t", rows: "1\n", account: "_split_data: its name starts with _",
		},
		{
			source: "pola-rs/polars#19078", subject: "parallel reading splits a row at a line break within quotes",
			files: []string{"t.csv", lines("i,foo", 1041, func(i int) string {
				return fmt.Sprintf("%d,\"ABCDE FGHIJ\nKLMNOP\"", i)
			})},
			query: "SELECT count(*) AS n, sum(i) AS s, min(foo) AS f, max(length(foo)) AS l FROM t",
			rows:  "1041,542361,\"ABCDE FGHIJ\nKLMNOP\",18\n",
		},
		{
			source: "duckdb/duckdb#7578", subject: "parallel reading returns 500 of 999 rows",
			files: []string{"t.csv", lines("id\tteam\tamount\ttags", 999, func(i int) string {
				return fmt.Sprintf("x%d\t%d\t0.5\t", i, i%7)
			})},
			query: "SELECT count(*) AS n, count(tags) AS t, count(DISTINCT id) AS d FROM t", rows: "999,0,999\n",
		},
		{
			source: "duckdb/duckdb#4933", subject: "a CSV file starts with an empty line; the first row is lost",
			files: []string{"t.csv", "\nfile,n\na,1\nb,2\nc,3\n"},
			query: "SELECT file FROM t", problem: "t.csv:1 names no column",
		},
		{
			source: "simonw/sqlite-utils#702", subject: "a CSV file with names of columns and no rows",
			files: []string{"t.csv", "id,name\n"}, query: "SELECT count(*) AS n, count(name) AS m FROM t", rows: "0,0\n",
		},
		{
			source: "dathere/qsv#2613", subject: "the writer omitted empty fields at the end of a line",
			files: []string{"t.csv", "h1,h2,h3\nv01,v02\nv11,v12,v13\nv21\n"},
			query: "SELECT h1 FROM t", problem: "t.csv:2 has 2 fields, but the first line has 3",
		},
		{
			source: "AndreaBozzo/dataprof#418", subject: "fields beyond the last column are dropped silently",
			files: []string{"t.csv", "name;age;pay\nJohn;30;50000\nJane;Doe;35;55000;Extra\n"},
			query: "SELECT name FROM t", problem: "t.csv:3 has 5 fields, but the first line has 3",
		},

		// Values that change before anyone sees them.
		{
			source: "duckdb/duckdb#5782", subject: "postal codes lose their leading zero",
			files: []string{"t.csv", "id,zip\n1,01220\n2,94107\n"},
			query: "SELECT zip FROM t ORDER BY id", rows: "\"01220\"\n\"94107\"\n",
		},
		{
			source: "duckdb/duckdb#25824", subject: "values after the sample of rows are rounded and lose zeros",
			files: []string{"t.csv", lines("id,v,w", 20_600, func(i int) string {
				if i == 20_600 {
					return "20600,1.5,007"
				}
				return fmt.Sprintf("%d,%d,%d", i, i, i)
			})},
			query: "SELECT v, w FROM t WHERE id = 20600", rows: "1.5,\"007\"\n",
		},
		{
			source: "pandas-dev/pandas#48170", subject: "a whole number of 19 digits next to an empty field is rounded",
			files: []string{"t.csv", "col1,col2\n,1\n1234567890123456789,\n"},
			query: "SELECT col1, col2 FROM t ORDER BY col2 NULLS LAST", rows: ",1\n1234567890123456789,\n",
		},
		{
			source: "pandas-dev/pandas#2697", subject: "one number with an exponent rounds the whole column",
			files: []string{"t.csv", "id,text\n135217135789158401,a\n1352171357E+5,b\n"},
			query: "SELECT id FROM t ORDER BY text", rows: "\"135217135789158401\"\n\"1352171357E+5\"\n",
		},
		{
			source: "wireservice/csvkit#806", subject: "the country code NA (Namibia) becomes NULL",
			files: []string{"t.csv", "name,code\nNamibia,NA\nNorway,\"NA\"\nNone,\n"},
			query: "SELECT name, code FROM t ORDER BY name", rows: "\"Namibia\",\"NA\"\n\"None\",\n\"Norway\",\"NA\"\n",
		},
		{
			source: "melihbirim/csvql#103", subject: "a byte order mark becomes a part of the first column's name",
			files: []string{"t.csv", "\ufeffid,name\n1,Alice\n2,Bob\n"},
			query: "SELECT id, name FROM t ORDER BY id", rows: "1,\"Alice\"\n2,\"Bob\"\n",
		},
		{
			source: "adaltas/node-csv-parse#284", subject: "a byte order mark and lines that end with CR LF",
			files: []string{"t.csv", "\ufeffX\r\n1\r\n3\r\n"}, query: "SELECT x FROM t ORDER BY x", rows: "1\n3\n",
		},
		{
			source: "duckdb/duckdb#13121", subject: "the text 41_10_1 is read as a date",
			files: []string{"t.csv", "\"date\",\"eventID\",\"subplotID\"\n\"2016-10-03\",\"vst_OSBS_2016\",\"41_10_1\"\n"},
			query: "SELECT date, subplotid FROM t", rows: "2016-10-03,\"41_10_1\"\n", sqlite: "\"2016-10-03\",\"41_10_1\"\n",
		},
		{
			source: "duckdb/duckdb#816", subject: "01/02/2020 is 1 February or 2 January",
			files: []string{"t.csv", "d\n01/02/2020\n"}, query: "SELECT d FROM t", rows: "\"01/02/2020\"\n",
		},
		{
			source: "duckdb/duckdb#11065", subject: "one column has dates of two formats; some become other dates",
			files: []string{"t.csv", "A,B\n1,2024-03-08\n2,2024-03-09\n3,03/10/2024\n"},
			query: "SELECT b FROM t ORDER BY a", rows: "\"2024-03-08\"\n\"2024-03-09\"\n\"03/10/2024\"\n",
		},
		{
			source: "duckdb/duckdb#8571", subject: "a time with a zone is shifted by an hour",
			files: []string{"t.csv", "id,ts\n1,2020-02-13T11:32:03.000+01:00\n"},
			query: "SELECT ts FROM t", rows: "2020-02-13 10:32:03\n", sqlite: "\"2020-02-13 10:32:03\"\n",
		},
		{
			source: "pandas-dev/pandas#17687", subject: "a file is not UTF-8",
			files: []string{"t.csv", "id,name\n1,a\n2,\xa0b\n"}, query: "SELECT id FROM t", problem: "t.csv:3 is not UTF-8",
		},
		{
			source: "apache/spark#14745", subject: "two columns have the same name",
			files: []string{"t.csv", "a,b,a\n1,2,3\n"}, query: "SELECT b FROM t",
			problem: "t.csv:1 has two columns whose name in lower case is a",
		},
		{
			source: "simoc/csvjdbc#34", subject: "the names of two columns differ only in case",
			files: []string{"t.csv", "ID,Id\n1,2\n"}, query: "SELECT id FROM t",
			problem: "t.csv:1 has two columns whose name in lower case is id",
		},
		{
			source: "duckdb/duckdb#673", subject: "a query writes the name of a column in lower case",
			files: []string{"t.csv", "FlightDate|UniqueCarrier|OriginCityName\n1988-01-01|AA|New York, NY\n"},
			query: "SELECT flightdate, OriginCityName AS city FROM t", rows: "1988-01-01,\"New York, NY\"\n",
			sqlite: "\"1988-01-01\",\"New York, NY\"\n",
		},
		{
			source: "GetDKAN/dkan#2770", subject: "a column has the name of a keyword, group",
			files: []string{"t.csv", "group,order\n1,x\n2,y\n"},
			query: `SELECT "group", "order" FROM t ORDER BY "group"`, rows: "1,\"x\"\n2,\"y\"\n",
		},
		{
			source: "simonw/sqlite-utils#223", subject: "the fields are separated by semicolons and contain commas",
			files: []string{"t.csv", "id;place;price\n1;50,85802;1,5\n"},
			query: "SELECT place, price FROM t", rows: "\"50,85802\",\"1,5\"\n",
		},
		{
			source: "databricks/spark-csv#292", subject: "a number of 32 digits becomes a floating-point number",
			files: []string{"t.csv", "id\n21602730330000060100100000358582\n"},
			query: "SELECT id FROM t", rows: "21602730330000060100100000358582\n",
			verdict: run.Failed, problem: "but SQLite keeps only 15 digits",
		},
		{
			source: "nf-core/multiplesequencealign#181", subject: "each line ends with a delimiter",
			files: []string{"t.csv", "id,fasta,\n1,a,\n2,b,\n"}, query: "SELECT id, fasta, column_3 FROM t",
			rows: "1,\"a\",\n2,\"b\",\n", account: "t.csv: the first line does not name column 3; its name here is column_3",
		},
		{
			source: "probcomp/bayeslite#477", subject: "pandas writes the index as a column without a name",
			files: []string{"t.csv", ",Name,Country\n0,Martin,Sudan\n1,Edward,Sweden\n"},
			query: "SELECT column_1, name FROM t", rows: "0,\"Martin\"\n1,\"Edward\"\n",
			account: "t.csv: the first line does not name column 1; its name here is column_1",
		},

		// Limits.
		{
			source: "dinedal/textql#67", subject: "the name of a file contains a hyphen",
			files: []string{"my-nodes.csv", "hostname,ip\na,127.0.0.1\n"},
			query: "SELECT hostname, ip FROM my_nodes", rows: "\"a\",\"127.0.0.1\"\n",
		},
		{
			source: "wireservice/csvkit#343", subject: "the name of a file starts with a digit",
			files: []string{"05_temp.csv", "numero,n\n4,1\n4,2\n"},
			query: `SELECT numero, sum(n) AS s FROM _05_temp GROUP BY numero`, rows: "4,3\n",
		},

		// Comparison of results.
		{
			source: "malloydata/malloy#3045", subject: "a LIMIT cuts rows that share the value of ORDER BY",
			files: []string{"t.csv", "m,n\n5,8\n10,8\n1,9\n2,3\n"},
			query: "SELECT m FROM t ORDER BY n DESC LIMIT 2", open: true,
		},
		{
			source: "OHDSI/dbt-synthea#77", subject: "row_number() numbers rows that share the value of ORDER BY",
			files: []string{"t.csv", "id,g\n1,a\n2,a\n3,b\n4,a\n"},
			query: "SELECT id, row_number() OVER (ORDER BY g) AS n FROM t", open: true,
		},
		{
			source: "duckdb/duckdb#7174", subject: "engines list NULL first or last",
			files: []string{"t.csv", "k,i\n1,1\n2,2\n3,\n"},
			query: "SELECT i FROM t ORDER BY i LIMIT 1", open: true,
		},
		{
			source: "duckdb/duckdb#4270", subject: "the sum of floating-point numbers depends on their order",
			files: []string{"t.parquet", parquetOf(t, number{1, 0.1}, number{2, 0.2}, number{3, 0.3}, number{4, 0.7})},
			query: "SELECT round(sum(x), 6) AS s FROM t", rows: "1.3\n",
		},
		{
			source: "ClickHouse/ClickHouse#50192", subject: "DISTINCT takes 0 and -0 for two values",
			files: []string{"t.parquet", parquetOf(t, number{1, math.Copysign(0, -1)}, number{2, 0})},
			query: "SELECT count(DISTINCT x) AS n FROM t", rows: "1\n",
		},
		{
			source: "duckdb/duckdb#971", subject: "the quotient of two whole numbers is rounded in some engines",
			files: []string{"t.csv", "a,b\n1,3\n"}, query: "SELECT a / b < 0.1 AS q FROM t",
			rows: "false\n", verdict: run.Wrong, problem: "engines do not agree",
		},
		{
			source: "USEPA/EPA_MOVES_Model#91", subject: "a sum whose terms cancel depends on their order",
			files: []string{"t.parquet", parquetOf(t, number{1, 1e16}, number{2, 1}, number{3, -1e16})},
			query: "SELECT sum(x) AS s FROM t", rows: "0\n", sqlite: "1\n", verdict: run.EqualToRounding,
		},
		{
			source: "duckdb/duckdb#16965", subject: "NaN and -NaN as keys of a join",
			files: []string{"t.parquet", parquetOf(t, number{1, math.NaN()}, number{2, -math.NaN()}, number{3, 1})},
			query: "SELECT count(*) AS n FROM t a JOIN t b ON a.x = b.x", rows: "5\n",
			verdict: run.Failed, problem: "column x contains NaN, which SQLite converts to NULL",
		},
		{
			source: "apache/doris#68123", subject: "a sum of decimals with 38 digits overflows without an error",
			files: []string{"t.csv", "v\n" + strings.Repeat("9", 38) + "\n" + strings.Repeat("9", 38) + "\n"},
			query: "SELECT sum(v) AS s FROM t", problem: "Overflow",
		},
		{
			source: "pingcap/tidb#24626", subject: "two texts differ only in a blank at the end",
			files: []string{"t.csv", "id,a\n1,aaaaa\n2,aaaaa \n3,AAAAA\n"},
			query: "SELECT id, length(a) AS l FROM t WHERE a = 'aaaaa'", rows: "1,5\n",
		},
	}
}

// TestPublicReports: Barograph returns the exact rows of the files of public reports of faults in other programs, or
// refuses the file with the place of the problem, or reports that the results of two engines differ.
func TestPublicReports(t *testing.T) {
	for _, c := range reports(t) {
		t.Run(strings.ReplaceAll(c.source, "#", " "), func(t *testing.T) {
			f, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{Workload: run.OwnWorkload, Started: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			failed := own.Run(t.Context(), own.Program{
				Registry: all.Registry(), Engines: inFiles(t), Tables: write(t, c.files...), Questions: questions(t, c.query),
				Reps: 1, Seed: 1, SaveResults: true, Progress: func(string) {},
			}, f)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			r, samples, err := run.Read(f.Dir)
			if err != nil {
				t.Fatal(err)
			}
			account, problems := strings.Join(r.Own.Accounting(), "\n"), fmt.Sprint(failed)
			for i := range samples {
				problems += "\n" + samples[i].Problem
			}
			if (failed == nil) != (c.problem == "") || !strings.Contains(problems, c.problem) {
				t.Errorf("error %s, not %q", problems, c.problem)
			}
			if !strings.Contains(account, c.account) {
				t.Errorf("%q is not in\n%s", c.account, account)
			}
			refused, missing := c.problem != "" && c.verdict == "", c.verdict != "" && !c.verdict.IsCorrect()
			for i := range samples {
				s := &samples[i]
				ok := s.Verdict.IsCorrect() != refused
				if s.Cell.Engine == "sqlite" && c.verdict != "" {
					ok = s.Verdict == c.verdict
				}
				if !ok {
					t.Errorf("%s: %s %s", s.Cell, s.Verdict, s.Problem)
				}
			}
			if refused {
				return
			}
			if len(r.Own.Questions) != 1 || c.open != (r.Own.Questions[0].Undetermined != "") {
				t.Fatalf("%+v", r.Own.Questions)
			}
			if c.open {
				return
			}
			for engine, want := range map[string]string{"duckdb": c.rows, "sqlite": c.sqlite} {
				if engine == "sqlite" && want == "" {
					want = c.rows
				}
				text, err := os.ReadFile(filepath.Join(f.Dir, "results", engine+"."+r.Own.Questions[0].Name+".csv"))
				if engine == "sqlite" && missing {
					if err == nil {
						t.Errorf("the result is saved: %q", text)
					}
					continue
				}
				if _, got, _ := strings.Cut(string(text), "\n"); err != nil || got != want {
					t.Errorf("%s: %q, not %q, %v", engine, got, want, err)
				}
			}
		})
	}
}
