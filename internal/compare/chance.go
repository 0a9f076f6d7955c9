package compare

import (
	"fmt"
	"math"
	"time"
)

// chance is the p-value up to which a difference is significant; above it is noise.
const chance = 0.01

// rates compares na events in ta with nb in tb. If both rates are equal, the incident's share of
// the total is binomially distributed. With few events or a short time a change cannot be told from
// chance; the verdict is then Noise.
func rates(na int, ta time.Duration, nb int, tb time.Duration) (Verdict, string) {
	if na == nb && na == 0 {
		return Same, ""
	}
	if ta <= 0 || tb <= 0 {
		return Unknown, "one side states no times"
	}
	p := binomialTail(na+nb, nb, float64(tb)/float64(ta+tb))
	why := fmt.Sprintf("p=%.2g", p)
	if p > chance {
		return Noise, why
	}
	switch {
	case na == 0:
		return New, why
	case nb == 0:
		return Gone, why
	case float64(nb)/float64(tb) > float64(na)/float64(ta):
		return Worse, why
	}
	return Better, why
}

// binomialTail returns the two-sided probability of k, or something more extreme, among n.
func binomialTail(n, k int, share float64) float64 {
	mean := float64(n) * share
	var p float64
	if float64(k) >= mean {
		for i := k; i <= n; i++ {
			p += math.Exp(logBinomial(n, i, share))
		}
	} else {
		for i := 0; i <= k; i++ {
			p += math.Exp(logBinomial(n, i, share))
		}
	}
	return math.Min(1, 2*p)
}

func logBinomial(n, k int, share float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	l := lg(n) - lg(k) - lg(n-k)
	if k > 0 {
		l += float64(k) * math.Log(share)
	}
	if n > k {
		l += float64(n-k) * math.Log1p(-share)
	}
	return l
}

// shifted compares two ascending samples of durations by rank (Mann-Whitney): relist durations have
// no distribution that a mean could represent.
func shifted(a, b []time.Duration) (Verdict, string) {
	na, nb := float64(len(a)), float64(len(b))
	u, ties := 0.0, 0.0 // u: number of pairs in which the incident's is longer; ties count half
	i, j := 0, 0
	for _, y := range b {
		for i < len(a) && a[i] < y {
			i++
		}
		for j = max(j, i); j < len(a) && a[j] <= y; j++ {
		}
		u += float64(i) + float64(j-i)/2
		ties += float64(j - i)
	}
	sd := math.Sqrt(na * nb * (na + nb + 1) / 12)
	z := (u - na*nb/2) / sd
	p := math.Erfc(math.Abs(z) / math.Sqrt2)
	why := fmt.Sprintf("%d and %d relists, p=%.2g", len(a), len(b), p)
	switch {
	case ties == na*nb:
		return Same, why
	case len(a) < 5 || len(b) < 5:
		return Noise, why + ", too few to tell"
	case p > chance:
		return Noise, why
	case z > 0:
		return Worse, why
	}
	return Better, why
}
