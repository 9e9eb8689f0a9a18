package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// Rate is the bandwidth of a cable, in bits a second.
type Rate float64

const (
	minRate Rate = 8_000 // below it a single packet takes more than a second
	maxRate Rate = 100e9
)

// rateUnit is a unit of rates.
type rateUnit struct {
	name string // tc's
	size Rate
}

// rateUnits lists the units, the largest first.
func rateUnits() []rateUnit {
	return []rateUnit{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}
}

// parseRate reads a rate as tc writes it: 10mbit.
func parseRate(text string) (Rate, error) {
	for _, u := range rateUnits() {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if r := Rate(n) * u.size; err == nil && r >= minRate && r <= maxRate {
			return r, nil
		}
		break
	}
	return 0, fmt.Errorf("%q is no rate from %s to %s", text, minRate, maxRate)
}

func (r Rate) String() string {
	for _, u := range rateUnits() {
		if r >= u.size {
			return strconv.FormatFloat(float64(r/u.size), 'f', -1, 64) + u.name
		}
	}
	return "0bit"
}

// bytes returns the rate in bytes a second.
func (r Rate) bytes() uint64 { return uint64(r) / 8 }
