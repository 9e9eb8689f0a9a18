package question

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// TestQuery: what is asked comes back from a query string, of the seven cases in
// fewer than 600 characters.
func TestQuery(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range cases {
		text := Query(q).Encode()
		v, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromQuery(v)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(text) > 600 || fmt.Sprint(got.Header) != fmt.Sprint(q.Header) || !reflect.DeepEqual(got.Lead, q.Lead) || !reflect.DeepEqual(got.Valid, q.Valid) {
			t.Errorf("%s, %d characters: %s", q.Name, len(text), text)
		}
	}
	const drawn = "axis=valid_hour&equal_places=true&event_equal=true&fcst_init_beg=2024-01-01T00%3A00%3A00Z..2024-01-02T00%3A00%3A00Z&fcst_lead=6%2C1h30m0s&init_hour=0%2C12&line_type=SL1L2&minus=A&model=A&model=B&series=model%2Cvx_mask&stat=ME&valid_hour=6"
	v, _ := url.ParseQuery(drawn)
	q, err := FromQuery(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := Query(q).Encode(); got != strings.Replace(drawn, "6%2C1h30m0s", "1h30m0s%2C6", 1) {
		t.Error(got)
	}
	for text, says := range map[string]string{
		"": "line_type", "line_type=X": "not known", "line_type=SL1L2&colour=red": "colour", "line_type=SL1L2&line_type=CTC": "twice", "line_type=SL1L2&valid_hour=25": "25", "line_type=SL1L2&valid_hour=x": "numbers", "line_type=SL1L2&fcst_valid_beg=x": "time",
	} {
		v, _ := url.ParseQuery(text)
		if _, err := FromQuery(v); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
