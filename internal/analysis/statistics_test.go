package analysis

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// The figures of the first four rows are those of table I of Newcombe,
// Statistics in Medicine 17 (1998), 857-872, method 3 (score), which gives
// four decimals.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{0, 0, 0, 1},
		{7, 7, 0.6457, 1},
	} {
		got := Wilson(c.k, c.n)
		if !near(got.Low, c.low, 5e-5) || !near(got.High, c.high, 5e-5) {
			t.Errorf("Wilson(%d, %d) = %.4f, want [%.4f, %.4f]", c.k, c.n, got, c.low, c.high)
		}
	}
}

// The interval is the set of proportions whose score test does not reject;
// its ends solve |p̂ − p| = z·√(p(1−p)/n), found here by bisection.
func TestWilsonSolvesTheScoreTest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + r.IntN(5000)
		k := r.IntN(n + 1)
		p := float64(k) / float64(n)
		score := func(x float64) float64 {
			return math.Abs(p-x) - z95*math.Sqrt(x*(1-x)/float64(n))
		}
		bisect := func(inside, outside float64) float64 {
			for range 200 {
				middle := (inside + outside) / 2
				if score(middle) <= 0 {
					inside = middle
				} else {
					outside = middle
				}
			}
			return inside
		}
		want := Interval{bisect(p, 0), bisect(p, 1)}
		if got := Wilson(k, n); !near(got.Low, want.Low, 1e-9) || !near(got.High, want.High, 1e-9) {
			t.Fatalf("Wilson(%d, %d) = %v, want %v", k, n, got, want)
		}
	}
}

// fisherExact sums the hypergeometric tail in exact fractions.
func fisherExact(both, left, right, total int) float64 {
	choose := func(n, k int) *big.Int {
		if k < 0 || k > n {
			return new(big.Int)
		}
		return new(big.Int).Binomial(int64(n), int64(k))
	}
	sum := new(big.Int)
	for k := both; k <= min(left, right); k++ {
		sum.Add(sum, new(big.Int).Mul(choose(right, k), choose(total-right, left-k)))
	}
	f, _ := new(big.Rat).SetFrac(sum, choose(total, left)).Float64()
	return f
}

// The lady tasting tea (Fisher, The Design of Experiments, 1935, chapter II):
// four of four cups right has p = 1/70, at least three 17/70.
func TestFisherGreaterTea(t *testing.T) {
	for _, c := range []struct {
		both int
		want float64
	}{{4, 1.0 / 70}, {3, 17.0 / 70}, {2, 53.0 / 70}, {1, 69.0 / 70}, {0, 1}} {
		if got := FisherGreater(c.both, 4, 4, 8); !near(got, c.want, 1e-12) {
			t.Errorf("FisherGreater(%d, 4, 4, 8) = %v, want %v", c.both, got, c.want)
		}
	}
}

func TestFisherGreaterExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		total := 1 + r.IntN(400)
		left, right := r.IntN(total+1), r.IntN(total+1)
		low, high := max(0, left+right-total), min(left, right)
		both := low + r.IntN(high-low+1)
		got, want := FisherGreater(both, left, right, total), fisherExact(both, left, right, total)
		if math.Abs(got-want) > 1e-9*want+1e-13 {
			t.Fatalf("FisherGreater(%d, %d, %d, %d) = %v, want %v", both, left, right, total, got, want)
		}
	}
	// Large counts, where the mode is far from the tail.
	if got, want := FisherGreater(80, 500, 800, 10000), fisherExact(80, 500, 800, 10000); !near(got/want, 1, 1e-9) {
		t.Errorf("FisherGreater(80, 500, 800, 10000) = %v, want %v", got, want)
	}
}

// The p values and the four rejections at 5 % are the worked example of
// Benjamini & Hochberg, Journal of the Royal Statistical Society B 57 (1995),
// section 4.1 (thrombolysis in myocardial infarction, 15 hypotheses).
func TestBenjaminiHochbergPaper(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000}
	rejected := 0
	for _, q := range BenjaminiHochberg(p) {
		if q <= 0.05 {
			rejected++
		}
	}
	if rejected != 4 {
		t.Errorf("BenjaminiHochberg rejects %d at 5 %%, want 4", rejected)
	}
}

// The step-up rule itself: q(i) ≤ a exactly where the procedure at level a
// rejects hypothesis i.
func TestBenjaminiHochbergStepUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		p := make([]float64, 1+r.IntN(30))
		for i := range p {
			p[i] = r.Float64() * r.Float64()
			if i > 0 && r.IntN(4) == 0 {
				p[i] = p[r.IntN(i)] // a tie
			}
		}
		q := BenjaminiHochberg(p)
		sorted := slices.Sorted(slices.Values(p))
		for _, level := range []float64{0.013, 0.051, 0.21, 0.77} {
			threshold := -1.0
			for i, x := range sorted {
				if x <= level*float64(i+1)/float64(len(p)) {
					threshold = x
				}
			}
			for i := range p {
				if got, want := q[i] <= level, p[i] <= threshold; got != want {
					t.Fatalf("level %v, p %v of %v: rejected %v, want %v", level, p[i], sorted, got, want)
				}
			}
		}
	}
}

// R's quantile(c(1, 3, 4, 8, 12, 20), c(.25, .5, .75, .9)), whose default is
// type 7, gives 3.25, 6, 11, 16.
func TestQuantileType7(t *testing.T) {
	d := NewDistribution([]float64{12, 1, 20, 3, 8, 4}, 2)
	got := []float64{d.Min, d.P25, d.Median, d.P75, d.P90, d.Max}
	if diff := cmp.Diff([]float64{1, 3.25, 6, 11, 16, 20}, got); diff != "" {
		t.Errorf("quantiles (-want +got):\n%s", diff)
	}
	if d.Known != 6 || d.Unknown != 2 {
		t.Errorf("counts = %d known, %d unknown, want 6 and 2", d.Known, d.Unknown)
	}
	if want := (Interval{1, 20}); !d.HasMedianInterval || d.MedianInterval != want {
		t.Errorf("median interval = %v, want %v", d.MedianInterval, want)
	}
}

// Ranks of the two-sided sign test at 5 %: critical values r−1 of table A of
// the sign test as printed in Conover (1999): n = 6 → 0, 10 → 1, 15 → 3, 20 → 5,
// 25 → 7, 30 → 9.
func TestMedianRank(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 1, 8: 1, 9: 2, 10: 2, 15: 4, 20: 6, 25: 8, 30: 10} {
		if got := medianRank(n); got != want {
			t.Errorf("medianRank(%d) = %d, want %d", n, got, want)
		}
	}
	for n := 6; n < 150; n++ {
		r := medianRank(n)
		below := func(r int) float64 { // P(Binomial(n, 1/2) < r) in exact fractions
			sum := new(big.Int)
			for k := range r {
				sum.Add(sum, new(big.Int).Binomial(int64(n), int64(k)))
			}
			f, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
			return f
		}
		if below(r) > 0.025 || below(r+1) <= 0.025 {
			t.Fatalf("medianRank(%d) = %d: tails %v and %v", n, r, below(r), below(r+1))
		}
	}
}

func TestDistributionMeansAndCaveats(t *testing.T) {
	d := NewDistribution([]float64{0, 10, 1000}, 4)
	if !near(d.GeometricMean, 100, 1e-12) || !near(d.Mean, 1010.0/3, 1e-12) {
		t.Errorf("means = %v and %v, want 100 and %v", d.GeometricMean, d.Mean, 1010.0/3)
	}
	if diff := cmp.Diff([]Caveat{TooFewForInterval, MostlyUnknown, HeavyTailMeanMisleads}, d.Caveats); diff != "" {
		t.Errorf("caveats (-want +got):\n%s", diff)
	}
	if e := NewDistribution(nil, 0); e.Known != 0 || e.HasGeometricMean || e.HasMedianInterval || len(e.Histogram(12)) != 0 {
		t.Errorf("empty distribution = %+v", e)
	}
}

// Every value is in exactly the bin whose bounds hold it, and bounds join.
func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		values := make([]float64, 1+r.IntN(200))
		for i := range values {
			if r.IntN(10) > 0 {
				values[i] = math.Exp(r.Float64() * 15)
			}
		}
		d := NewDistribution(slices.Clone(values), 0)
		bins := d.Histogram(1 + r.IntN(20))
		total := 0
		for i, b := range bins {
			last := i == len(bins)-1
			count := 0
			for _, x := range values {
				if x >= b.From && (x < b.To || last && x <= b.To) {
					count++
				}
			}
			if count != b.Count {
				t.Fatalf("bin %+v of %v holds %d, want %d", b, bins, b.Count, count)
			}
			if i > 0 && bins[i-1].To != b.From {
				t.Fatalf("bins %v do not join", bins)
			}
			total += b.Count
		}
		if total != len(values) {
			t.Fatalf("bins hold %d, want %d", total, len(values))
		}
	}
}

// Tea and coffee in Brin, Motwani & Silverstein, Beyond Market Baskets (1997):
// of 100 baskets 25 have tea, 90 coffee and 20 both. That a fifth have both
// looks like much, but is less than chance: the interest is 0.89.
func TestLiftOfTeaAndCoffee(t *testing.T) {
	if got := lift(20, 25, 90, 100); !near(got, 0.89, 0.005) {
		t.Errorf("lift(20, 25, 90, 100) = %v, want 0.89", got)
	}
}

// The three fixed points of Bouma, Normalized (Pointwise) Mutual Information in
// Collocation Extraction (2009): 1 where two only occur together, 0 where they
// are independent, towards −1 where they avoid each other.
func TestNPMIFixedPoints(t *testing.T) {
	for _, c := range []struct {
		both, left, right, total int
		want, tolerance          float64
	}{
		{7, 7, 7, 100, 1, 1e-12},
		{50, 50, 50, 50, 1, 0},
		{6, 20, 30, 100, 0, 1e-12},
		{1, 1 << 19, 1<<19 + 1, 1 << 20, -1, 0.15},
	} {
		if got := npmi(c.both, c.left, c.right, c.total); math.Abs(got-c.want) > c.tolerance {
			t.Errorf("npmi(%d, %d, %d, %d) = %v, want %v", c.both, c.left, c.right, c.total, got, c.want)
		}
	}
}
