package answer

import (
	"testing"

	"github.com/barograph/barograph/query/question"
)

// The TimeFilter of a question also restricts the times of its list or range.
func TestMatcherTimeFilter(t *testing.T) {
	const hour = 3600
	day := int64(1546300800) // 2019-01-01 00:00
	for name, valid := range map[string]question.Times{
		"range": {First: day, Last: day + 18*hour},
		"list":  {List: []int64{day, day + 6*hour, day + 12*hour, day + 18*hour}},
	} {
		for _, c := range []struct {
			what  string
			clock question.TimeFilter
			want  map[int64]bool // hours after the day, of lead 6
		}{
			{"no filter", question.TimeFilter{}, map[int64]bool{0: true, 6: true, 12: true}},
			{"valid hours", question.TimeFilter{ValidHour: []int{6, 18}}, map[int64]bool{0: false, 6: true, 12: false, 18: true}},
			{"initial hours", question.TimeFilter{InitHour: []int{6}}, map[int64]bool{6: false, 12: true, 18: false}},
			{"initial times", question.TimeFilter{Init: question.Times{List: []int64{day}}}, map[int64]bool{0: false, 6: true, 12: false}},
		} {
			m := NewMatcher(&question.Question{Valid: valid, TimeFilter: c.clock, Lead: []int32{6 * hour}})
			for h, want := range c.want {
				if got := m.Times(day+h*hour, 6*hour); got != want {
					t.Errorf("%s, %s, hour %d: %v, want %v", name, c.what, h, got, want)
				}
			}
			if m.Times(day+12*hour, 12*hour) {
				t.Errorf("%s, %s: a lead that the question does not include matches", name, c.what)
			}
		}
	}
}
