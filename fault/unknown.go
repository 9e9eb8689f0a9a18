package fault

import "strings"

// Unknown is the error of a name that is none of those known; the cure names
// the nearest, and all.
func Unknown[T ~string](setting, name string, known []T) *Error {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	cure := "choose one of " + strings.Join(names, ", ")
	if near := Nearest(name, names); near != "" {
		cure = "did you mean " + near + "? Choose one of " + strings.Join(names, ", ")
	}
	return &Error{Setting: setting + " " + name, Problem: "is not known", Cure: cure}
}

// Nearest is the known name that is nearest to a misspelt one; "" where none
// is near.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to leave out, put in, change or exchange
// with their neighbours (optimal string alignment).
func distance(a, b string) int {
	var before, row []int // of the letters of a up to the one before last, and to the last
	for k := range len(b) + 1 {
		row = append(row, k)
	}
	for i := range len(a) {
		next := []int{i + 1}
		for k := range len(b) {
			cost := row[k]
			if a[i] != b[k] {
				cost++
			}
			d := min(cost, next[k]+1, row[k+1]+1)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				d = min(d, before[k-1]+1)
			}
			next = append(next, d)
		}
		before, row = row, next
	}
	return row[len(b)]
}

// NotOffered is the error of a name that is known and not offered by all, or by
// none; a command ends in Usage.
func NotOffered[T ~string](setting string, name T, offered []T, by string) *Status {
	e := Unknown(setting, string(name), offered)
	e.Problem = "is not offered by " + by
	return &Status{Code: Usage, Err: e}
}
