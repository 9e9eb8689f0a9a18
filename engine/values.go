package engine

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
)

// Values are the parameters of a URL, as they are given or else by default.
// They keep the first error: what is read after it is of no use.
type Values struct {
	Given map[string]string // by the name of the parameter
	Err   error
	of    string
}

// Values reads the parameters of a URL.
func (d *Driver) Values(u *url.URL) *Values {
	v := &Values{Given: map[string]string{}, of: d.Scheme + " URL, "}
	for _, p := range d.Params {
		if v.Given[p.Name] = u.Query().Get(p.Name); v.Given[p.Name] == "" {
			v.Given[p.Name] = p.Default
		}
	}
	return v
}

// Refuse says of a part of the URL that it cannot be used.
func (v *Values) Refuse(part, problem, cure string) {
	if v.Err == nil {
		v.Err = &fault.Error{Setting: v.of + part, Problem: problem, Cure: cure}
	}
}

// Bad says of a parameter that it cannot be used.
func (v *Values) Bad(name, cure string) {
	v.Refuse("parameter "+name, strconv.Quote(v.Given[name])+" is not understood", cure)
}

// Int reads a whole number.
func (v *Values) Int(name string, least, most int) int {
	n, err := strconv.Atoi(v.Given[name])
	if err != nil || n < least || n > most {
		v.Bad(name, fmt.Sprintf("give a number from %d to %d", least, most))
	}
	return n
}

// Bool reads true or false.
func (v *Values) Bool(name string) bool {
	b, err := strconv.ParseBool(v.Given[name])
	if err != nil {
		v.Bad(name, "write "+name+"=true or "+name+"=false")
	}
	return b
}

// Duration reads a time such as 10s.
func (v *Values) Duration(name string, least time.Duration) time.Duration {
	d, err := time.ParseDuration(v.Given[name])
	if err != nil || d < least {
		v.Bad(name, "give a time such as 10s, at least "+least.String())
	}
	return d
}

// List reads names with commas between.
func (v *Values) List(name string) []string {
	if v.Given[name] == "" {
		return nil
	}
	return strings.Split(v.Given[name], ",")
}

// Choice reads one of several names.
func Choice[T any](v *Values, name string, known map[string]T) T {
	t, ok := known[v.Given[name]]
	if !ok {
		v.Bad(name, "choose one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return t
}
