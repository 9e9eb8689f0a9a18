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

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for k := range len(b) {
			cost := diagonal
			if a[i] != b[k] {
				cost++
			}
			diagonal, row[k+1] = row[k+1], min(cost, row[k]+1, row[k+1]+1)
		}
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
