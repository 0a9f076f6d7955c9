package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestScreen: the report of a sample fits one screen, and no line except a command is wider than
// the terminal, also in the full report. The same holds for each recorded node and case, analyzed
// as users do: without time zone or year.
func TestScreen(t *testing.T) {
	for _, sample := range sampleNames(t) {
		for _, width := range []int{80, 100, 140} {
			oneScreen(t, width, inputsOf(t, sample)...)
		}
	}
	cases, _ := filepath.Glob("../../../shared/data/cases/*.log")
	for _, in := range cases {
		oneScreen(t, 80, in)
		oneScreen(t, 100, in)
	}
	recorded, _ := filepath.Glob("../../../shared/data/kubelets/*")
	for i, dir := range recorded {
		in, _ := filepath.Glob(filepath.Join(dir, "[kmpes]*")) // the files of a bundle
		oneScreen(t, []int{80, 100}[i%2], in...)
	}
}

// oneScreen checks the report of inputs at a width in columns.
func oneScreen(t *testing.T, width int, inputs ...string) {
	t.Helper()
	t.Setenv("COLUMNS", strconv.Itoa(width))
	screen := string(printed(t, append([]string{"analyze", "--quiet"}, inputs...)...))
	most := 40
	if width < 100 {
		most = 48
	}
	if n := strings.Count(screen, "\n"); n > most {
		t.Errorf("%s at %d columns has %d lines:\n%s", inputs[0], width, n, screen)
	}
	for _, line := range strings.Split(screen, "\n") {
		if text.StringWidthWithoutEscSequences(line) > width && !strings.Contains(line, "$ ") {
			t.Errorf("%s at %d columns: %s", inputs[0], width, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%s at %d columns ends in spaces: %q", inputs[0], width, line)
		}
	}
	if !strings.Contains(screen, "plegforensics") || !strings.Contains(screen, "--verbose") {
		t.Errorf("%s names no next command", inputs[0])
	}
}

// TestWidths: no line of any command is wider than the terminal, or than fileWidth in a file;
// except commands, which are never wrapped.
func TestWidths(t *testing.T) {
	in := filepath.Join(samples, "hang-list")
	for columns, width := range map[string]int{"80": 80, "": fileWidth} {
		t.Setenv("COLUMNS", columns)
		for _, args := range [][]string{
			{"rules", "list"}, {"explain"}, {"inspect", in}, {"compare", filepath.Join(samples, "healthy"), in}, {"replay", in},
			{"replay", "--what-if", "threshold=10m", in}, {"batch", "--quiet", in, filepath.Join(samples, "healthy")},
			{"events", in}, {"timeline", in}, {"query", "--list", in}, {"query", "--alerts", in},
			{"query", "--expr", "sum by (node) (plegforensics_pleg_unhealthy)", "--step", "30s", in},
		} {
			for _, line := range strings.Split(string(printed(t, args...)), "\n") {
				if text.StringWidthWithoutEscSequences(line) > width && !strings.HasPrefix(line, "      ") && !strings.HasPrefix(line, "    $ ") {
					t.Errorf("%q at %q columns: %s", args, columns, line)
				}
			}
		}
	}
}

// TestNewFormat: adding a format takes one line of the table; batch finds its extension.
func TestNewFormat(t *testing.T) {
	kept := report.Formats
	defer func() { report.Formats = kept }()
	report.Formats = append(report.Formats[:len(kept):len(kept)], report.Format{Name: "tsv", Ext: ".tsv", About: "a test",
		Write: func(w io.Writer, r *model.Report, _ report.Options) error {
			_, err := io.WriteString(w, r.Nodes[0].Name+"\t"+r.Nodes[0].Status+"\n")
			return err
		}})
	dir := t.TempDir()
	printed(t, "batch", "--quiet", "--report", "tsv", "--out-dir", dir, filepath.Join(samples, "healthy", "kubelet.log"))
	if names, _ := filepath.Glob(filepath.Join(dir, "kubelet.log-*.tsv")); len(names) != 1 {
		all, _ := filepath.Glob(filepath.Join(dir, "*"))
		t.Errorf("batch wrote %v", all)
	}
}

// TestFormatsPage: docs/formats.md names all formats.
func TestFormatsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(report.Names(report.Formats), report.Documents.Kinds()...) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/formats.md does not name %s", name)
		}
	}
}
