package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance returns the relative luminance of a color as defined by WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	hex = strings.TrimPrefix(hex, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	v, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatalf("no colour: %q", hex)
	}
	part := func(shift uint) float64 {
		c := float64(v>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a)+0.05, luminance(t, b)+0.05
	return max(x, y) / min(x, y)
}

// TestContrast: in every color scheme, adjacent states have a contrast of at least 3:1, and the
// text inside a bar at least 4.5:1 against it. In forced-colors mode the system's color pairs
// apply.
func TestContrast(t *testing.T) {
	schemes := regexp.MustCompile(`:root\{([^}]*)\}`).FindAllStringSubmatch(styleSource, -1)
	if len(schemes) != 4 {
		t.Fatalf("%d colour schemes, want light, dark, forced, print", len(schemes))
	}
	for i, scheme := range schemes {
		name := []string{"light", "dark", "forced", "print"}[i]
		color := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+):([^;]+)`).FindAllStringSubmatch(scheme[1], -1) {
			color[m[1]] = m[2]
		}
		if name == "forced" {
			for _, pair := range [][2]string{{"good", "good-ink"}, {"bad", "bad-ink"}, {"unknown", "unknown-ink"}, {"hung", "hung-ink"}} {
				want := map[string]string{"Canvas": "CanvasText", "CanvasText": "Canvas", "Highlight": "HighlightText"}[color[pair[0]]]
				if color[pair[1]] != want {
					t.Errorf("forced: %s on %s, want %s", color[pair[1]], color[pair[0]], want)
				}
			}
			if color["good"] == color["bad"] {
				t.Error("forced: good and bad look alike")
			}
			continue
		}
		for _, pair := range [][2]string{{"good", "bad"}, {"good", "unknown"}, {"bad", "unknown"}, {"hung", "bg"}} {
			if c := contrast(t, color[pair[0]], color[pair[1]]); c < 3 {
				t.Errorf("%s: %s against %s is %.2f : 1", name, pair[0], pair[1], c)
			}
		}
		for _, fill := range []string{"good", "bad", "unknown", "hung"} {
			if c := contrast(t, color[fill], color[fill+"-ink"]); c < 4.5 {
				t.Errorf("%s: words in %s are %.2f : 1", name, fill, c)
			}
		}
	}
}
