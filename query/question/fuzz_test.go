package question

import (
	"errors"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/barograph/barograph/internal/fault"

	"github.com/goccy/go-yaml"
)

var hourItem = regexp.MustCompile(`^([+-]?[0-9]+)(?:-([+-]?[0-9]+)/([+-]?[0-9]+))?$`)

// FuzzParse: any text is a valid question with the leads that it names, or an error with a cure.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"name: x\nline_type: SL1L2\nwhere: {model: [GFS], vx_mask: [G2/NHX]}\nfcst_valid_beg: {first: 2019-01-01, last: 2019-01-02, step: 6h}\nfcst_lead: [24, 1h30m, 0-48/6]\ncolumns: [fbar]\norder_by: [fcst_lead]\n",
		"line_type: CTC\nfcst_valid_beg: {list: ['2019010100', 20190101_060000]}\nfcst_init_beg: {first: '2019-01-01 00:00:00', last: '2019-02-01', step: 24h}\nvalid_hour: [0, 12]\ninit_hour: [6]\ncolumns:\n- total\n- fy_oy\n",
		"line_type: VL1L2\nfcst_lead: ['-12-12/4']\ncolumns: [uvffabar]\n",
		"title: a b\nline_type: CTC\ncolumns: [total]\nfcst_lead: ['1']\n",
		"name: x\nline_type: SL1L2\nstat: [RMSE, ME]\naxis: fcst_lev\nseries: {model: [GFS, [GFS, ECM]], fcst_lead: [24]}\ninterval: {confidence: 0.9, replicates: 50, seed: 3}\nevent_equal: true\n",
		"name: x\nline_type: CNT\nstat: rmse\nseries: [model, vx_mask]\nmethod: mean\n---\nname: y\nweight: 3\nline_type: MPR\nstat: none\n",
		"line_type: {a: [b\n? - x\n: &a *a",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		qs, err := Parse("f.yaml", text)
		if err != nil {
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Errorf("%T without a place: %v", err, err)
			}
			return
		}
		for _, q := range qs {
			same(t, q)
			ordered := *q
			ordered.SelectColumns()
			ordered.Columns = ordered.Columns[:3]
			same(t, &ordered)
		}
		q := qs[0]
		if err := q.Check(); err != nil || len(q.Lead) > maxLeads || len(q.Valid.Expand()) > maxTimes {
			t.Errorf("%d leads, %d times, %v", len(q.Lead), len(q.Valid.Expand()), err)
		}
		var plain struct {
			Name  string     `yaml:"name"`
			Title string     `yaml:"title"`
			Lead  stringList `yaml:"fcst_lead"`
		}
		if err := yaml.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		if q.Name != plain.Name || q.Title != plain.Title {
			t.Errorf("%q, %q is read as %q, %q", plain.Name, plain.Title, q.Name, q.Title)
		}
		for _, item := range plain.Lead {
			checkLeads(t, q, item)
		}
	})
}

// same checks that a question, written and read again, is the same.
func same(t *testing.T, q *Question) {
	t.Helper()
	text, err := YAML(q)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxText {
		return
	}
	got, err := Parse("again.yaml", text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(got) != 1 || !reflect.DeepEqual(got[0], q) {
		t.Errorf("%s\n got %+v\nwant %+v", text, got[0], q)
	}
}

// checkLeads checks that the question has the first and the last lead of an item in hours.
func checkLeads(t *testing.T, q *Question, item string) {
	t.Helper()
	m := hourItem.FindStringSubmatch(item)
	if m == nil {
		return
	}
	n := make([]big.Int, 3)
	for i, s := range m[1:] {
		n[i].SetString(s, 10)
	}
	last := new(big.Int).Set(&n[0]) // a copy of the struct would share its digits
	if m[2] != "" {
		last.Sub(&n[1], &n[0]).Div(last, &n[2]).Mul(last, &n[2]).Add(last, &n[0])
	}
	for _, h := range []*big.Int{&n[0], last} {
		seconds := h.Mul(h, big.NewInt(3600))
		if !seconds.IsInt64() || int64(int32(seconds.Int64())) != seconds.Int64() || !slices.Contains(q.Lead, int32(seconds.Int64())) {
			t.Errorf("%q lacks the lead of %s s: %d leads", item, seconds, len(q.Lead))
		}
	}
}
