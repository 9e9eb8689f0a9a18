package stat_test

import (
	"fmt"

	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Two records of 100 and 300 pairs become one mean error over 400 pairs.
func ExampleAggregate() {
	sl1l2, _ := record.TypeByName("SL1L2")
	a := stat.NewAggregate(sl1l2)
	//             total fbar obar fobar ffbar oobar mae
	a.Add([]float64{100, 11, 10, 112, 125, 104, 1.5})
	a.Add([]float64{300, 13, 10, 131, 170, 105, 3.2})
	me, ok, err := a.Stat("ME")
	fmt.Println(me, ok, err)
	// Output: 2.5 true <nil>
}
