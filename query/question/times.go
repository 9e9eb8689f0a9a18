package question

import (
	"errors"
	"fmt"
	"slices"
)

// Times is a set of valid or initialization times in Unix seconds, in one of four forms:
//   - the zero value: all times
//   - List: these times
//   - First, Last and Step > 0: the grid First, First+Step … ≤ Last
//   - First and Last, not both 0, and Step 0: every time from First to Last (see timesBetween)
type Times struct {
	List              []int64 // ascending
	First, Last, Step int64
}

// IsAll reports whether the set contains every time.
func (t *Times) IsAll() bool { return len(t.List) == 0 && t.Last == 0 && t.First == 0 && t.Step == 0 }

// IsDiscrete reports whether the set can be written as a list.
func (t *Times) IsDiscrete() bool { return len(t.List) > 0 || t.Step > 0 }

// timesBetween returns every time from first to last. The time 0 is a list, because the range from 0 to 0 contains all
// times.
func timesBetween(first, last int64) Times {
	if first == 0 && last == 0 {
		return Times{List: []int64{0}}
	}
	return Times{First: first, Last: last}
}

// Expand returns the set as a list; nil if it is not discrete.
func (t *Times) Expand() []int64 {
	if len(t.List) > 0 || !t.IsDiscrete() {
		return t.List
	}
	list := make([]int64, 0, (t.Last-t.First)/t.Step+1)
	for v := t.First; v <= t.Last; v += t.Step {
		list = append(list, v)
	}
	return list
}

// Bounds returns the first and the last time of the set. For "all", ok is false.
func (t *Times) Bounds() (first, last int64, ok bool) {
	switch {
	case t.IsAll():
		return 0, 0, false
	case len(t.List) > 0:
		return t.List[0], t.List[len(t.List)-1], true
	default:
		return t.First, t.Last, true
	}
}

// Grid returns first, last and step if the set contains every time between its bounds (step 0) or
// all times at multiples of a step. For an irregular list and for "all", ok is false.
func (t *Times) Grid() (first, last, step int64, ok bool) {
	if t.IsAll() {
		return 0, 0, 0, false
	}
	if len(t.List) == 0 {
		return t.First, t.Last, t.Step, true
	}
	if len(t.List) == 1 {
		return t.List[0], t.List[0], 0, true
	}
	step = t.List[1] - t.List[0]
	for i := 1; i < len(t.List); i++ {
		if t.List[i]-t.List[i-1] != step {
			return 0, 0, 0, false
		}
	}
	return t.List[0], t.List[len(t.List)-1], step, true
}

// Contains reports whether v is in the set.
func (t *Times) Contains(v int64) bool {
	switch {
	case t.IsAll():
		return true
	case len(t.List) > 0:
		_, ok := slices.BinarySearch(t.List, v)
		return ok
	case v < t.First || v > t.Last:
		return false
	}
	return t.Step == 0 || (v-t.First)%t.Step == 0
}

// Check returns an error if the set is inconsistent or too large.
func (t *Times) Check() error {
	switch {
	case !slices.IsSorted(t.List):
		return errors.New("is not ascending")
	case t.Last < t.First:
		return errors.New("ends before it begins")
	case t.Step < 0:
		return errors.New("has a negative step")
	case t.Step > 0 && (t.Last-t.First)/t.Step >= maxTimes:
		return fmt.Errorf("has more than %d times", maxTimes)
	}
	return nil
}
