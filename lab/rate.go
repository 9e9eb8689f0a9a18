package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// Rate is of a cable, in bits a second.
type Rate float64

const (
	leastRate Rate = 8_000 // below it a single packet takes more than a second
	mostRate  Rate = 100e9
)

// units are tc's, of bits a second.
func units() []struct {
	name string
	is   Rate
} {
	return []struct {
		name string
		is   Rate
	}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}
}

// parseRate reads a rate as tc writes it: 10mbit.
func parseRate(text string) (Rate, error) {
	for _, u := range units() {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if r := Rate(n) * u.is; err == nil && r >= leastRate && r <= mostRate {
			return r, nil
		}
		break
	}
	return 0, fmt.Errorf("%q is no rate from %s to %s", text, leastRate, mostRate)
}

func (r Rate) String() string {
	for _, u := range units() {
		if r >= u.is {
			return strconv.FormatFloat(float64(r/u.is), 'f', -1, 64) + u.name
		}
	}
	return "0bit"
}

func (r Rate) bytes() uint64 { return uint64(r) / 8 }
