package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// means tests questions with Mean. A driver that promises them must answer the verification scan like
// the reference. The others must refuse it in every flavour.
func (s *suite) means(t *testing.T) {
	h := s.openNew(t)
	if !slices.Contains(archive.OfferOf(&s.Driver).MeanDesigns, s.design) {
		for _, f := range s.flavours {
			_, err := h.Phrase(t.Context(), question.MeanAnomalyCorrelation("a"), f)
			if !errors.Is(err, flavour.ErrCannotExpress) {
				t.Errorf("%s: means are not promised, but phrased: %v", f, err)
			}
		}
		return
	}
	q := question.MeanAnomalyCorrelation("a")
	if got, err := s.scan(t, h, q); err != nil || got.Rows != 0 {
		t.Errorf("an empty archive returns %+v, %v", got, err)
	}
	var loaded []File
	for _, step := range s.meansFiles() {
		mustStore(t, h, "b", step, 2) // another subset, which the question does not select
		mustStore(t, h, "a", step[:len(step)-1], 1)
		mustStore(t, h, "a", step[len(step)-1:], 1)
		loaded = append(loaded, step...)
		want := meansOf(t, q, loaded)
		if err := s.checkScan(t, h, q, want); err != nil {
			t.Fatal(err)
		}
	}
	want := meansOf(t, q, loaded)
	if want.Rows < 100 {
		t.Fatalf("%d groups prove too little", want.Rows)
	}
	s.meansPlan(t, h, q)
	for _, f := range []Fault{LostRow, MissingLead, DuplicatedRow, Truncated} {
		if err := s.checkScan(t, Faulty(h, f), q, want); err == nil {
			t.Errorf("%s was not caught", f)
		}
	}
	for _, f := range s.flavours {
		if f == flavour.MeansFlavour(s.design) {
			continue
		}
		if _, err := h.Phrase(t.Context(), q, f); !errors.Is(err, flavour.ErrCannotExpress) {
			t.Errorf("%s phrased a question about every record: %v", f, err)
		}
	}
}

// scan returns the answer to the verification scan.
func (s *suite) scan(t *testing.T, a archive.Archive, q *question.Question) (*answer.Answer, error) {
	t.Helper()
	p, err := a.Phrase(t.Context(), q, flavour.MeansFlavour(s.design))
	if err != nil {
		return nil, err
	}
	got, err := ask(t.Context(), a, p)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, clip(p.Text))
	}
	return got, nil
}

// checkScan compares the answer to the scan with the reference.
func (s *suite) checkScan(t *testing.T, a archive.Archive, q *question.Question, want *answer.Answer) error {
	t.Helper()
	got, err := s.scan(t, a, q)
	if err == nil {
		_, err = answer.CompareMeans(want, got)
	}
	return err
}

// meansPlan checks that no step of the plan skips line data.
func (s *suite) meansPlan(t *testing.T, h *opened, q *question.Question) {
	t.Helper()
	p, err := h.Phrase(t.Context(), q, flavour.MeansFlavour(s.design))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := h.Explain(t.Context(), p)
	if err != nil || plan.Text == "" {
		t.Fatalf("the plan is %q, %v", plan.Text, err)
	}
	for _, a := range plan.Access {
		if strings.Contains(a.Object, strings.ToLower(q.Type.Name)) && a.Method == archive.PrunedScan {
			t.Errorf("the plan skips blocks of %s:\n%s", a.Object, plan.Text)
		}
	}
}

// meansOf computes the reference. Of two values of a record a loader stores the last one, and the reference uses the
// first one. Therefore the reference gets the files in reverse order.
func meansOf(t *testing.T, q *question.Question, files []File) *answer.Answer {
	t.Helper()
	m, err := answer.NewMeans(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Backward(files) {
		for _, b := range slices.Backward(f.Batches) {
			m.Add(b)
		}
	}
	return m.Answer()
}

// meansFiles are files to load one after the other: VSDB files, whose leads METviewer stores in hours;
// MET files, whose leads it stores differently; and files with different values for the records of the first
// ones. Some names differ only in case and blanks, and fields that are not part of a group also differ.
func (s *suite) meansFiles() [][]File {
	scores := lineType("SAL1L2")
	valid, leads := every(newYear2019, 6*hour, 5), hours(0, 6, 24, 108)
	var vsdbSeries, metSeries []Series
	add := func(into *[]Series, h record.Header) {
		*into = append(*into, Series{Type: scores, Header: h, Valid: valid, Lead: leads})
	}
	for _, model := range []string{"GFS", "gfs", "GFS ", "ECM"} {
		for _, level := range []string{"P500", "P1000"} {
			add(&vsdbSeries, vsdb(model, "GFS", "G2/NHX", "HGT", level))
			add(&vsdbSeries, vsdb(model, "ANL", "G2/NHX", "HGT", level))
			add(&metSeries, met(model, "G2/NHX", "HGT", level, "NEAREST", "NA"))
		}
	}
	for _, text := range s.texts() {
		add(&vsdbSeries, vsdb("GFS", "GFS", text, "TMP", "P850"))
	}
	vsdbSeries = append(vsdbSeries, Series{Type: lineType("SL1L2"), Header: vsdb("GFS", "GFS", "G2", "HGT", "P500"), Valid: valid, Lead: leads})
	first, second := anomalies(1, Generate(31, 3, vsdbSeries...)), anomalies(2, Generate(32, 2, metSeries...))
	return [][]File{first, second, anomalies(3, Generate(31, 3, vsdbSeries[:len(vsdbSeries)/2]...))}
}

// anomalies gives the records of SAL1L2 realistic sums of anomalies. Some leave the correlation
// undefined or at its limits.
func anomalies(seed uint64, files []File) []File {
	rng := rand.New(rand.NewPCG(seed, 31))
	t := lineType("SAL1L2")
	slot := func(name string) int { c, _ := t.Column(name); return c.Slot }
	fa, oa, foa, ffa, ooa := slot("fabar"), slot("oabar"), slot("foabar"), slot("ffabar"), slot("ooabar")
	for _, f := range files {
		for _, b := range f.Batches {
			if b.Type != t {
				continue
			}
			for i := range b.Len() {
				mf, mo := rng.NormFloat64()*3, rng.NormFloat64()*3
				vf, vo, r := 1+100*rng.Float64(), 1+100*rng.Float64(), 2*rng.Float64()-1
				switch rng.IntN(12) {
				case 0:
					vf = 0 // undefined
				case 1:
					mf, mo, r = 0, 0, 1
				case 2:
					mf, mo, vf, vo, r = 0, 0, 16, 25, -1.5 // undefined
				}
				b.Num[fa][i], b.Num[oa][i] = mf, mo
				b.Num[ffa][i], b.Num[ooa][i] = vf+mf*mf, vo+mo*mo
				b.Num[foa][i] = r*math.Sqrt(vf*vo) + mf*mo
				if rng.IntN(15) == 0 {
					b.Num[[]int{fa, oa, foa, ffa, ooa}[rng.IntN(5)]][i] = record.Missing()
				}
			}
		}
	}
	return files
}
