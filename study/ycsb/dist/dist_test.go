package dist

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// fits is the chi-square test of seen[i] draws in a class with probability p[i]. The seed is fixed, so the result is
// always the same. The test fails if the p-value is below 0.001. It also fails if a class with probability 0 is drawn,
// which chiSquare would not show, because it joins such a class with others.
func fits(t *testing.T, seen []int, p []float64) {
	t.Helper()
	sum := 0.0
	for i := range p {
		if sum += p[i]; p[i] == 0 && seen[i] > 0 {
			t.Errorf("class %d is drawn %d times, and has the probability 0", i, seen[i])
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Fatalf("the probabilities add up to %v", sum)
	}
	chi, classes := chiSquare(seen, p)
	if pv := 1 - (distuv.ChiSquared{K: float64(classes - 1)}).CDF(chi); pv < 0.001 {
		t.Errorf("chi-square %.1f with %d classes: p = %g", chi, classes, pv)
	}
}

// chiSquare returns the statistic of the test and the number of its classes. It joins a class of less than five expected
// draws with the next ones; the last classes, if they still expect less than five, with the one before.
func chiSquare(seen []int, p []float64) (chi float64, classes int) {
	n := 0
	for _, s := range seen {
		n += s
	}
	joined := [][2]float64{{}} // observed and expected draws
	for i := range p {
		last := &joined[len(joined)-1]
		last[0] += float64(seen[i])
		if last[1] += p[i] * float64(n); last[1] >= 5 {
			joined = append(joined, [2]float64{})
		}
	}
	if rest := joined[len(joined)-1]; len(joined) > 1 {
		joined = joined[:len(joined)-1]
		joined[len(joined)-1][0] += rest[0]
		joined[len(joined)-1][1] += rest[1]
	}
	for _, c := range joined {
		chi += (c[0] - c[1]) * (c[0] - c[1]) / c[1]
	}
	return chi, len(joined)
}

// TestChiSquare: no draw is left out, also not those of the last classes.
func TestChiSquare(t *testing.T) {
	chi, classes := chiSquare([]int{50, 50, 3}, []float64{0.5, 0.48, 0.02})
	if want := 2 * 1.5 * 1.5 / 51.5; classes != 2 || math.Abs(chi-want) > 1e-9 {
		t.Errorf("%g with %d classes, want %g with 2", chi, classes, want)
	}
}

func draws(n, classes int, least int64, draw func() int64) []int {
	seen := make([]int, classes)
	for range n {
		seen[draw()-least]++ // a number outside of the classes panics
	}
	return seen
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(42, 1)) }

// TestHashIsYCSBs: the hashes are those of keys that YCSB printed.
func TestHashIsYCSBs(t *testing.T) {
	for v, want := range map[int64]int64{
		0: 6284781860667377211, 1: 8517097267634966620, 2: 1820151046732198393, 3: 4052466453699787802,
		10: 2408371864701034737, 999: 2071219101098386137, 123456789: 2350796791908741607,
	} {
		if got := Hash(v); got != want {
			t.Errorf("hash of %d: %d, want %d", v, got, want)
		}
	}
}

// TestZeta compares Zeta with sums whose rounding errors are compensated (Kahan).
func TestZeta(t *testing.T) {
	for _, theta := range []float64{0.01, 0.5, Theta, 0.999999, 1 - 1e-9} {
		sum, rest := 0.0, 0.0
		for i := int64(1); i <= 300_000; i++ {
			term := math.Pow(float64(i), -theta) - rest
			next := sum + term
			rest = (next - sum) - term
			sum = next
			if i%50_000 == 0 || i == 999 || i == 1000 || i == 1001 || i == 1200 {
				if got := Zeta(i, theta); math.Abs(got-sum) > 1e-14*sum {
					t.Errorf("zeta(%d) of %v = %.17g, summed %.17g", i, theta, got, sum)
				}
			}
		}
	}
	if got := Zeta(scrambledItems, Theta); math.Abs(got-scrambledZeta) > 1e-9*got {
		t.Errorf("zeta of the scrambled items: %.15g, YCSB's constant %.15g", got, scrambledZeta)
	}
}

// gray returns the probabilities of the numbers by YCSB's formula. The drawn number grows with the random number, so
// the probability of a number is the length of the interval of random numbers that draw it.
func gray(z *Zipf) []float64 {
	p := make([]float64, z.items)
	first := 1 / z.zetan
	second := math.Pow(0.5, z.theta) / z.zetan
	p[0], p[1] = first, second
	from := first + second
	for k := range p {
		if k+1 < int(z.items) {
			// After Resize, the formula can be below the interval of the first two numbers. Such a number is never drawn.
			next := max((math.Pow(float64(k+1)/float64(z.items), 1/z.alpha)-1+z.eta)/z.eta, first+second)
			p[k] += next - from
			from = next
		} else {
			p[k] += 1 - from
		}
	}
	return p
}

func TestZipf(t *testing.T) {
	z, rng := NewZipf(7, 200, Theta), newRand()
	fits(t, draws(200_000, 200, 7, func() int64 { return z.Draw(rng) }), gray(&z))
	if got := z.at(math.Nextafter(1, 0)); got != 206 {
		t.Errorf("the largest random number draws %d, not the last number", got)
	}
}

func TestScrambled(t *testing.T) {
	const least, most, direct = 50, 149, 1_000_000
	s, rng := NewScrambled(least, most, Theta), newRand()
	p := make([]float64, most-least+1)
	rest := 1.0
	g := s.inner
	from := 0.0
	for k := range direct { // the head exactly; the rest is spread evenly by the hash
		next := 1 / g.zetan
		switch {
		case k == 1:
			next = (1 + math.Pow(0.5, Theta)) / g.zetan
		case k > 1:
			next = max((math.Pow(float64(k+1)/float64(g.items), 1/g.alpha)-1+g.eta)/g.eta, from)
		}
		p[Hash(int64(k))%int64(len(p))] += next - from
		rest -= next - from
		from = next
	}
	for i := range p {
		p[i] += rest / float64(len(p))
	}
	fits(t, draws(200_000, len(p), least, func() int64 { return s.Draw(rng) }), p)
}

func TestLatest(t *testing.T) {
	const last = 150
	l, rng := NewLatest(100, Theta), newRand()
	l.zipf.Resize(120)
	seen := draws(200_000, last+1, 0, func() int64 { return l.Draw(rng, last) })
	if math.Abs(l.zipf.zetan-Zeta(last, Theta)) > 1e-9 {
		t.Errorf("grown to %d, zeta is %v", last, l.zipf.zetan)
	}
	back := gray(&l.zipf)
	p := make([]float64, last+1)
	for i, q := range back {
		p[last-i] = q
	}
	fits(t, seen, p)
	if seen[0] != 0 {
		t.Errorf("it draws 0, in %d draws", seen[0])
	}
	for range 1000 {
		for _, last := range []int64{0, 1, 2} {
			if got := l.Draw(rng, last); got < min(1, last) || got > last {
				t.Fatalf("of 0 … %d it draws %d", last, got)
			}
		}
	}
}

// TestLatestOfGrownRange: like YCSB's, a Latest whose range has grown by the factor g draws the last number and the one
// before it, and never the numbers 2 … 2g-1 behind the last one.
func TestLatestOfGrownRange(t *testing.T) {
	const last, g = 51_000, 51
	l, rng := NewLatest(last/g, Theta), newRand()
	seen := draws(200_000, last+1, 0, func() int64 { return l.Draw(rng, last) })
	for behind := range 2 * g {
		if n := seen[last-behind]; (n > 0) != (behind < 2) {
			t.Errorf("%d behind the last number is drawn %d times", behind, n)
		}
	}
	if seen[last-2*g] == 0 {
		t.Errorf("%d behind the last number is not drawn", 2*g)
	}
}

// TestLatestOfFewNumbers: like YCSB's, a Latest that had at most two numbers at first draws the oldest one most often.
func TestLatestOfFewNumbers(t *testing.T) {
	for first, isOldest := range map[int64]bool{0: true, 1: true, 2: true, 3: false} {
		l, rng := NewLatest(first, Theta), newRand()
		seen := draws(10_000, 101, 0, func() int64 { return l.Draw(rng, 100) })
		if (seen[1] > 5000) != isOldest {
			t.Errorf("NewLatest(%d), grown to 100, draws number 1 in %d of 10,000 draws", first, seen[1])
		}
	}
}

func TestExactZipf(t *testing.T) {
	const n, least = 1000, 30
	for _, theta := range []float64{0.5, Theta, 1.3} {
		e, rng := NewExactZipf(least, n, theta), newRand()
		p, sum := make([]float64, n), 0.0
		for k := range p {
			p[k] = math.Pow(float64(k+1), -theta)
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		fits(t, draws(200_000, n, 1, func() int64 { return e.Rank(rng) }), p)
		drawn := make([]bool, n)
		for rank := int64(1); rank <= n; rank++ {
			drawn[e.Number(rank)-least] = true
		}
		for i, ok := range drawn {
			if !ok {
				t.Fatalf("no rank has the number %d", i)
			}
		}
	}
	one := NewExactZipf(5, 1, Theta)
	if got := one.Draw(newRand()); got != 5 {
		t.Errorf("of one number it draws %d", got)
	}
	huge := NewExactZipf(0, 1<<62, Theta)
	for rng, i := newRand(), 0; i < 1000; i++ {
		if k := huge.Draw(rng); k < 0 || k >= 1<<62 {
			t.Fatalf("of 2^62 numbers it draws %d", k)
		}
	}
}

func TestUniformAndSequential(t *testing.T) {
	u, rng := Uniform{10, 59}, newRand()
	p := make([]float64, 50)
	for i := range p {
		p[i] = 0.02
	}
	fits(t, draws(100_000, 50, 10, func() int64 { return u.Draw(rng) }), p)
	s := Sequential{Least: 10, Most: 59}
	for i, n := range draws(150, 50, 10, s.Draw) {
		if n != 3 {
			t.Errorf("number %d was drawn %d times of 3", i, n)
		}
	}
}

func TestHotspot(t *testing.T) {
	h, rng := NewHotspot(5, 104, 0.2, 0.8), newRand()
	p := make([]float64, 100)
	for i := range p {
		if p[i] = 0.2 / 80; i < 20 {
			p[i] = 0.8 / 20
		}
	}
	fits(t, draws(100_000, 100, 5, func() int64 { return h.Draw(rng) }), p)
	for _, fraction := range []float64{0, 1} {
		h := NewHotspot(0, 9, fraction, 0.5)
		draws(1000, 10, 0, func() int64 { return h.Draw(rng) })
	}
}

func TestExponential(t *testing.T) {
	const within = 100
	e, rng := NewExponential(95, within), newRand()
	seen, p := make([]int, 200), make([]float64, 200)
	for range 100_000 {
		seen[min(e.Draw(rng), 199)]++
	}
	at := func(x float64) float64 { return math.Exp(-e.gamma * x) } // the probability of more
	if math.Abs(at(within)-0.05) > 1e-12 {
		t.Errorf("beyond %d there is %v of the draws", within, at(within))
	}
	for i := range p {
		p[i] = at(float64(i)) - at(float64(i+1))
	}
	p[199] = at(199)
	fits(t, seen, p)
}

func TestBucketsAndChoice(t *testing.T) {
	b, rng := NewBuckets(10, []int64{1, 0, 3, 6}), newRand()
	fits(t, draws(100_000, 4, 0, func() int64 { return b.Draw(rng)/10 - 1 }), []float64{0.1, 0, 0.3, 0.6})
	c := NewChoice(1, 0, 2, 1, 0)
	fits(t, draws(100_000, 5, 0, func() int64 { return int64(c.Draw(rng)) }), []float64{0.25, 0, 0.5, 0.25, 0})
}

func BenchmarkDraw(b *testing.B) {
	rng := newRand()
	s, e := NewScrambled(0, 1_000_000, Theta), NewExactZipf(0, 1_000_000, Theta)
	b.Run("scrambled", func(b *testing.B) {
		for b.Loop() {
			s.Draw(rng)
		}
	})
	b.Run("exact", func(b *testing.B) {
		for b.Loop() {
			e.Draw(rng)
		}
	})
}

// TestTheta: the share of the most frequent number is about what theta gives it. The upper limit has a reserve: at
// theta 0.3 the first number is expected 22 times in 20,000 draws, but thousands of numbers have nearly the same
// probability, and by chance one of them occurs more often.
func TestTheta(t *testing.T) {
	top := func(draw func(rng *rand.Rand) int64) float64 {
		rng, count, most := newRand(), map[int64]int{}, 0
		for range 20_000 {
			n := draw(rng)
			count[n]++
			most = max(most, count[n])
		}
		return float64(most) / 20_000
	}
	last := float64(0)
	for _, theta := range []float64{0.3, 0.7, Theta} {
		s, l, e := NewScrambled(0, 9999, theta), NewLatest(10_000, theta), NewExactZipf(0, 10_000, theta)
		latest := func(r *rand.Rand) int64 { return l.Draw(r, 10_000) }
		for name, got := range map[string]float64{"scrambled": top(s.Draw), "latest": top(latest), "exact": top(e.Draw)} {
			want := 1 / Zeta(10_000, theta)
			if name == "scrambled" {
				want = 1/Zeta(scrambledItems, theta) + 1e-4
			}
			if got < 0.7*want || got > 2*want+4e-4 {
				t.Errorf("%s, %g: the most frequent has %g, want %g", name, theta, got, want)
			}
		}
		if now := top(e.Draw); now <= last {
			t.Errorf("%g is no steeper", theta)
		} else {
			last = now
		}
	}
}
