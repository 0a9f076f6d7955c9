package alerts

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/rules/query"
)

// Group is a rule group ready for evaluation.
type Group struct {
	File     string
	Name     string
	Interval time.Duration
	Offset   time.Duration // query_offset: how far in the past rules are evaluated
	Limit    int           // maximum number of series or alerts per rule; 0: unlimited
	Rules    []Rule
}

// Rule is one alerting or recording rule.
type Rule struct {
	Alert, Record string
	Expr          string
	For           time.Duration
	KeepFiringFor time.Duration
	Labels        map[string]string
	Annotations   map[string]string
}

// DefaultInterval is the evaluation interval of groups that do not state one.
const DefaultInterval = 30 * time.Second

// ruleGroups reads the groups of a rule file; a panic of the YAML library is an error.
func ruleGroups(data []byte) (groups *rulefmt.RuleGroups, errs []error) {
	var err error
	defer func() {
		if err != nil {
			errs = append(errs, err)
		}
	}()
	defer nodes.Caught(&err)
	return rulefmt.Parse(data, false, model.UTF8Validation, query.Parser(), promslog.NewNopLogger())
}

// Parse reads a rule file, a PrometheusRule object, or a response of /api/v1/rules. It returns all
// errors, each as FILE:LINE:COLUMN: message or FILE:LINE: message.
func Parse(name string, data []byte) ([]Group, []error) {
	if gs, ok := parseAPI(name, data); ok {
		return gs, nil
	}
	if nested(data) > deepest {
		return nil, []error{fmt.Errorf("%s: parentheses nested more than %d deep", name, deepest)}
	}
	plain, _ := content(data)
	groups := unwrapped(data)
	if line := secondDocument(data); line > 0 && len(groups) != len(plain) {
		return nil, []error{fmt.Errorf("%s:%d: a second document beside a PrometheusRule: it needs a file of its own", name, line)}
	}
	rg, errs := ruleGroups(groups)
	if len(errs) > 0 {
		return nil, placed(name, errs)
	}
	var out []Group
	for _, g := range rg.Groups {
		x := Group{File: name, Name: g.Name, Interval: time.Duration(g.Interval)}
		if g.QueryOffset != nil {
			x.Offset = time.Duration(*g.QueryOffset)
		}
		x.Limit = g.Limit
		if x.Interval <= 0 {
			x.Interval = DefaultInterval
		}
		for _, r := range g.Rules {
			x.Rules = append(x.Rules, Rule{Alert: r.Alert, Record: r.Record, Expr: r.Expr, For: time.Duration(r.For),
				KeepFiringFor: time.Duration(r.KeepFiringFor), Labels: merged(g.Labels, r.Labels), Annotations: r.Annotations})
		}
		out = append(out, x)
	}
	return out, nil
}

// merged merges the labels of a group and a rule; the rule's take precedence.
func merged(group, rule map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range group {
		out[k] = v
	}
	for k, v := range rule {
		out[k] = v
	}
	return out
}

// parseAPI reads the response of a server to /api/v1/rules, as kept by must-gather: the rules that
// really watched the cluster.
func parseAPI(name string, data []byte) ([]Group, bool) {
	var doc struct {
		Data struct {
			Groups []struct {
				Name     string
				Interval float64
				Rules    []struct {
					Name, Query, Type       string
					Duration, KeepFiringFor float64
					Labels, Annotations     map[string]string
				}
			}
		}
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &doc) != nil || len(doc.Data.Groups) == 0 {
		return nil, false
	}
	var out []Group
	for _, g := range doc.Data.Groups {
		x := Group{File: name, Name: g.Name, Interval: max(time.Duration(g.Interval*1e9), time.Second)}
		for _, r := range g.Rules {
			rule := Rule{Expr: r.Query, For: time.Duration(r.Duration * 1e9), KeepFiringFor: time.Duration(r.KeepFiringFor * 1e9), Labels: r.Labels, Annotations: r.Annotations}
			if r.Type == "recording" {
				rule.Record = r.Name
			} else {
				rule.Alert = r.Name
			}
			x.Rules = append(x.Rules, rule)
		}
		out = append(out, x)
	}
	return out, true
}

//go:embed builtin.yaml
var builtin []byte

// BuiltinFile is the File of the built-in groups.
const BuiltinFile = "built-in"

// Builtin returns the built-in rules: commonly deployed ones, and our own, which would have
// detected the trouble.
func Builtin() []Group {
	gs, _ := Parse(BuiltinFile, builtin) // a test checks the file
	return gs
}

// deepest is the maximum nesting depth of parentheses in a rule file: the time of the PromQL parser
// is quadratic in it.
const deepest = 1000

// nested returns the nesting depth of the parentheses in a text.
func nested(data []byte) int {
	depth, most := 0, 0
	for _, c := range data {
		switch c {
		case '(':
			depth++
			most = max(most, depth)
		case ')':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// Asks returns the metrics that the rules of groups read or write.
func Asks(groups []Group) query.Asks {
	var out query.Asks
	for i := range groups {
		for j := range groups[i].Rules {
			r := &groups[i].Rules[j]
			out.Add(r.Expr)
			out.Name(r.Record)
			for _, texts := range []map[string]string{r.Labels, r.Annotations} {
				for _, text := range texts {
					if strings.Contains(text, "query") {
						out.All() // a template may query anything
					}
				}
			}
		}
	}
	return out
}
