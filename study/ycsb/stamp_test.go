package ycsb

import (
	"slices"
	"testing"
)

// TestStamps: a stamp shows its version for its own key and field. It is invalid for another key or field, and if the
// value is cut or a character is changed.
func TestStamps(t *testing.T) {
	key, other := keyID([]byte("user6284781860667377211")), keyID([]byte("user8517097267634966620"))
	for _, n := range []int{8, 9, 12, 15, 16, 17, 40, 100, 1000} {
		for _, version := range []uint64{0, 1, 1<<sequenceBits | 77, 1<<versionBits - 1} {
			value := appendValue(nil, key, 3, n, version)
			got, mask, kind := readStamp(key, 3, value)
			if len(value) != n || kind != stampValid || got != version&mask || n >= 16 && mask != 1<<versionBits-1 {
				t.Fatalf("%d bytes, version %d: %q is read as %d of %x, %d", n, version, value, got, mask, kind)
			}
			if !slices.Equal(value, appendValue(nil, key, 3, n, got)) {
				t.Errorf("%d bytes: the value cannot be made anew", n)
			}
			wrong := map[string]func() int{
				"another key's":   func() int { _, _, kind := readStamp(other, 3, value); return kind },
				"another field's": func() int { _, _, kind := readStamp(key, 4, value); return kind },
				"one that is cut": func() int { _, _, kind := readStamp(key, 3, value[:max(minStamped, n-1)]); return kind },
				"one with more":   func() int { _, _, kind := readStamp(key, 3, append(slices.Clone(value), 'x')); return kind },
			}
			for i := 1; i < min(n, stampChars); i++ {
				wrong["one that is changed"] = func() int {
					changed := slices.Clone(value)
					changed[i] ^= 1
					_, _, kind := readStamp(key, 3, changed)
					return kind
				}
				if n > 12 && wrong["one that is changed"]() != stampInvalid {
					t.Errorf("%d bytes, changed at %d: valid", n, i)
				}
			}
			delete(wrong, "one that is changed")
			if n == minStamped {
				delete(wrong, "one that is cut")
			}
			for what, kind := range wrong {
				if kind() != stampInvalid {
					t.Errorf("%d bytes, version %d: %s is not invalid", n, version, what)
				}
			}
		}
	}
	for _, value := range []string{"", "~", "~abcdef", "user6284781860667377211:field3:-1", " 9A!"} {
		if _, _, kind := readStamp(key, 3, []byte(value)); kind != stampAbsent {
			t.Errorf("%q has a stamp", value)
		}
	}
}

// TestStampsStay: the format of stamps must not change, because tables contain them.
func TestStampsStay(t *testing.T) {
	const want = "~5000000XZ7b0`\\[ <+ E/3?"
	if got := string(appendValue(nil, keyID([]byte("user1")), 0, 24, 5)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
