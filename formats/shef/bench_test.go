package shef_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/shef"
)

// BenchmarkReader decodes real products on one core: .A and .E.
func BenchmarkReader(b *testing.B) {
	for _, name := range []string{
		"misc/TGC.A.Shef", "spk/usbrcvo.dy.2024.05.06.utc", "spk/LOS.dy.2024.05.06.utc",
		"lrl/COERR1LRN.2024.07.03.121714", "lrl/MEMRR7MRX_PROD.shef_202407031212.2024.07.03.121259", "misc/SD_Mesonet.shef",
	} {
		b.Run("file="+filepath.Base(name), func(b *testing.B) {
			text, err := os.ReadFile(filepath.Join(sampleData(b), "hec/example-shef-files", name))
			if err != nil {
				b.Skip(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			values := 0
			var out shef.Result
			before := userCPU(b)
			for b.Loop() {
				r := shef.NewReader(bytes.NewReader(text), name, shef.Options{Now: day})
				for {
					if err := r.Next(&out); errors.Is(err, io.EOF) {
						break
					}
					values += len(out.Values)
				}
			}
			// The machine may be shared, so the benchmark reports user CPU seconds.
			b.ReportMetric(float64(values)/(userCPU(b)-before).Seconds(), "values/cpu-s")
		})
	}
}

var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func userCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
