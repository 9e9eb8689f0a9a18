package measure

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// readRateBytes is how much ReadRate writes and reads.
const readRateBytes = 64 << 20

// ReadRate measures how many bytes a second can be read from a folder, one
// request after the other: a file of 64 MiB is written there, dropped from the
// page cache, read, and removed. how says what was done.
func ReadRate(dir string) (rate float64, how string, err error) {
	f, err := os.CreateTemp(dir, ".barograph-rate-")
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{1})
	for range readRateBytes / len(block) {
		if _, err := random.Read(block); err != nil {
			return 0, "", err
		}
		if _, err := f.Write(block); err != nil {
			return 0, "", err
		}
	}
	how, err = DropCaches([]string{f.Name()})
	if err != nil {
		return 0, "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, "", err
	}
	began, n := time.Now(), 0
	for {
		k, err := f.Read(block)
		n += k
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, "", err
		}
	}
	return float64(n) / time.Since(began).Seconds(), fmt.Sprintf("%d MiB read in order, after %s", n>>20, how), nil
}
