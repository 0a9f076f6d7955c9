package alerts

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/plegforensics/plegforensics/rules/query"
)

// near says how close an alert that did not fire came to it: how long it was pending, or how close
// its value came to the threshold.
func (e *evaluation) near(ctx context.Context, i int, r *ruleState) []string {
	if p := r.seen; p.pending > 0 || !p.since.IsZero() {
		return []string{fmt.Sprintf("it was pending for %s at most, from %s on, and needs %s", short(p.pending), p.since.Format("15:04:05 MST"), short(r.def.For))}
	}
	tree, err := query.Parser().ParseExpr(r.def.Expr)
	if err != nil {
		return nil
	}
	side, op, bound := comparison(tree)
	if side == nil {
		return nil
	}
	m, err := e.rangeOf(ctx, i, side.String())
	if err != nil {
		return nil
	}
	more := op == parser.GTR || op == parser.GTE
	best, at := math.NaN(), int64(0)
	for _, s := range m {
		for _, p := range s.Floats {
			if math.IsNaN(best) && !math.IsNaN(p.F) || more && p.F > best || !more && p.F < best {
				best, at = p.F, p.T
			}
		}
	}
	if math.IsNaN(best) || best == 0 {
		return nil // nothing was counted
	}
	return []string{fmt.Sprintf("its value came to %s at %s, and it fires at %s %s", digits(best), time.UnixMilli(at).UTC().Format("15:04:05 MST"), op, digits(bound))}
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// comparison finds the comparison with a constant that decides an expression, and returns the
// compared expression, the operator and the constant.
func comparison(e parser.Expr) (parser.Expr, parser.ItemType, float64) {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return comparison(e.Expr)
	case *parser.BinaryExpr:
		switch e.Op {
		case parser.LAND, parser.LUNLESS:
			return comparison(e.LHS)
		case parser.GTR, parser.GTE, parser.LSS, parser.LTE:
			if n, ok := number(e.RHS); ok && !e.ReturnBool {
				return e.LHS, e.Op, n
			}
			if n, ok := number(e.LHS); ok && !e.ReturnBool {
				return e.RHS, mirrored[e.Op], n
			}
		}
	}
	return nil, 0, 0
}

var mirrored = map[parser.ItemType]parser.ItemType{parser.GTR: parser.LSS, parser.GTE: parser.LTE, parser.LSS: parser.GTR, parser.LTE: parser.GTE}

// number returns the value of a constant expression.
func number(e parser.Expr) (float64, bool) {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return e.Val, true
	case *parser.ParenExpr:
		return number(e.Expr)
	case *parser.UnaryExpr:
		v, ok := number(e.Expr)
		if e.Op == parser.SUB {
			v = -v
		}
		return v, ok
	case *parser.BinaryExpr:
		a, ok1 := number(e.LHS)
		b, ok2 := number(e.RHS)
		if !ok1 || !ok2 {
			return 0, false
		}
		switch e.Op {
		case parser.ADD:
			return a + b, true
		case parser.SUB:
			return a - b, true
		case parser.MUL:
			return a * b, true
		case parser.DIV:
			return a / b, true
		}
	}
	return 0, false
}
