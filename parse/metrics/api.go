package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// apiDecoder reads the JSON of the Prometheus HTTP API token by token, so that
// everything before the cut of a truncated file is kept.
type apiDecoder struct {
	part *Part
	data []byte
	dec  *json.Decoder
	at   int64 // offset up to which lines were counted
	line uint32
	key  []byte
}

func decodeAPI(p *Part, data []byte) {
	data = trimBOM(data)
	d := &apiDecoder{part: p, data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	for {
		if err := d.response(); err != nil {
			if !isEOF(err) || errors.Is(err, io.ErrUnexpectedEOF) {
				p.warnAt(d.dec.InputOffset(), "API response cut off or damaged: "+clip([]byte(err.Error()), 120))
			}
			return
		}
	}
}

// here returns the line of the decoder's current position.
func (d *apiDecoder) here() uint32 {
	off := min(d.dec.InputOffset(), int64(len(d.data)))
	if off > d.at {
		d.line += uint32(bytes.Count(d.data[d.at:off], []byte("\n")))
		d.at = off
	}
	return d.line
}

// members reads the members of an object up to its closing brace. It calls member
// with each name; member must consume the value.
func (d *apiDecoder) members(member func(name string) error) error {
	for d.dec.More() {
		t, err := d.dec.Token()
		if err != nil {
			return unexpected(err)
		}
		name, _ := t.(string)
		if err := member(name); err != nil {
			return unexpected(err)
		}
	}
	_, err := d.dec.Token()
	return unexpected(err)
}

// unexpected turns an end of data inside a value into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *apiDecoder) skip() error {
	var raw json.RawMessage
	return d.dec.Decode(&raw)
}

// response reads one complete response of the API, or only its result array as
// printed by "promtool query -o json".
func (d *apiDecoder) response() error {
	t, err := d.dec.Token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('['):
		return d.array(d.bare)
	case t != json.Delim('{'):
		return fmt.Errorf("object expected, found %v", t)
	}
	status := ""
	return d.members(func(name string) error {
		switch name {
		case "status":
			return d.dec.Decode(&status)
		case "error":
			var msg string
			if err := d.dec.Decode(&msg); err != nil {
				return err
			}
			s := d.part.begin(d.here())
			s.own = true
			s.scrape.Failed = clip([]byte(msg), maxFailedText)
			return nil
		case "data":
			return d.payload()
		}
		return d.skip()
	})
}

// payload reads "data": an object for queries, rules and alerts, an array of label
// sets for series.
func (d *apiDecoder) payload() error {
	t, err := d.dec.Token()
	if err != nil {
		return unexpected(err)
	}
	switch t {
	case json.Delim('['):
		return d.array(d.bareSeries)
	case json.Delim('{'):
		kind := ""
		return d.members(func(name string) error {
			switch name {
			case "resultType":
				return d.dec.Decode(&kind)
			case "result":
				return d.result(kind)
			case "alerts":
				return d.arrayValue(d.alert)
			case "groups":
				return d.arrayValue(d.group)
			}
			return d.skip()
		})
	}
	return nil
}

func (d *apiDecoder) arrayValue(element func() error) error {
	t, err := d.dec.Token()
	if err != nil || t != json.Delim('[') {
		return unexpected(err)
	}
	return d.array(element)
}

func (d *apiDecoder) array(element func() error) error {
	for d.dec.More() {
		if err := element(); err != nil {
			return unexpected(err)
		}
	}
	_, err := d.dec.Token()
	return unexpected(err)
}

// result reads the elements of a vector or matrix. A scalar or string result
// belongs to no series and is skipped with a warning.
func (d *apiDecoder) result(kind string) error {
	if kind == "scalar" || kind == "string" {
		d.part.warnLine(d.here(), "skipped: "+kind+" result belongs to no series")
		return d.skip()
	}
	return d.arrayValue(d.element)
}

// apiSeries is one element of a vector or matrix.
type apiSeries struct {
	Metric     map[string]string `json:"metric"`
	Value      *apiSample        `json:"value"`
	Values     []apiSample       `json:"values"`
	Histogram  json.RawMessage   `json:"histogram"`
	Histograms []json.RawMessage `json:"histograms"`
}

// bare reads one element of a result array: a series with its samples, or only the
// labels of a series.
func (d *apiDecoder) bare() error {
	line := d.here()
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	var e apiSeries
	if json.Unmarshal(raw, &e) == nil && e.Metric != nil {
		d.series(&e, line)
		return nil
	}
	var m map[string]string
	if err := json.Unmarshal(raw, &m); err != nil {
		d.part.warnLine(line, "damaged series skipped: "+clip([]byte(err.Error()), 120))
		return nil
	}
	d.known(m, line)
	return nil
}

// apiSample is a pair of Unix seconds and a quoted value.
type apiSample struct {
	at int64 // ns
	v  float64
}

func (s *apiSample) UnmarshalJSON(b []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	sec, err := strconv.ParseFloat(string(pair[0]), 64)
	if err != nil || math.Abs(sec) > 9e9 {
		return fmt.Errorf("bad sample time %s", clip(pair[0], 40))
	}
	s.at = int64(math.Round(sec*1e3)) * 1e6
	s.v, err = strconv.ParseFloat(string(bytes.Trim(pair[1], `"`)), 64)
	if err != nil {
		return fmt.Errorf("bad sample value %s", clip(pair[1], 40))
	}
	return nil
}

// element reads one series with its samples.
func (d *apiDecoder) element() error {
	line := d.here()
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	var e apiSeries
	if err := json.Unmarshal(raw, &e); err != nil {
		d.part.warnLine(line, "damaged series skipped: "+clip([]byte(err.Error()), 120))
		return nil
	}
	d.series(&e, line)
	return nil
}

// series adds one element of a vector or matrix.
func (d *apiDecoder) series(e *apiSeries, line uint32) {
	if len(e.Histogram) > 0 || len(e.Histograms) > 0 {
		d.part.warnLine(line, "skipped: the API's JSON of native histograms does not tell their schema")
	}
	if e.Value != nil {
		e.Values = append(e.Values, *e.Value)
	}
	d.take(e.Metric, e.Values, line)
}

// take adds the samples of one labeled series. Results of expressions have no name;
// they are named "result".
func (d *apiDecoder) take(metric map[string]string, values []apiSample, line uint32) {
	if metric["__name__"] == "" {
		if len(values) == 0 {
			return
		}
		metric = withName(metric, "result")
	}
	d.key = keyOf(d.key[:0], labels.FromMap(metric))
	if !d.part.room(d.key, line) {
		return
	}
	s := d.part.open(line)
	s.own = true
	for _, v := range values {
		d.part.add(s, d.key, v.v, v.at, line)
	}
}

func withName(m map[string]string, name string) map[string]string {
	out := map[string]string{"__name__": name}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// bareSeries reads an element of a /api/v1/series response: a label set without
// samples, which only shows that the series exists.
func (d *apiDecoder) bareSeries() error {
	var m map[string]string
	if err := d.dec.Decode(&m); err != nil {
		return err
	}
	d.known(m, d.here())
	return nil
}

// known records that a series exists.
func (d *apiDecoder) known(m map[string]string, line uint32) {
	if m["__name__"] == "" {
		return
	}
	d.key = keyOf(d.key[:0], labels.FromMap(m))
	if d.part.room(d.key, line) {
		d.part.bare = append(d.part.bare, d.part.addKey(d.key))
	}
}

// apiAlert is an active alert of the API.
type apiAlert struct {
	Labels   map[string]string `json:"labels"`
	State    string            `json:"state"`
	ActiveAt time.Time         `json:"activeAt"`
}

// alert turns an active alert into what the server itself records of it: a sample
// of ALERTS, at the time it became active.
func (d *apiDecoder) alert() error {
	line := d.here()
	var a apiAlert
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		d.part.warnLine(line, "damaged alert skipped: "+clip([]byte(err.Error()), 120))
		return nil
	}
	d.takeAlert(a, line)
	return nil
}

func (d *apiDecoder) takeAlert(a apiAlert, line uint32) {
	if a.ActiveAt.IsZero() || a.State == "" || a.State == "inactive" {
		return
	}
	m := withName(a.Labels, "ALERTS")
	m["alertstate"] = a.State
	m["__name__"] = "ALERTS"
	d.take(m, []apiSample{{at: a.ActiveAt.UnixNano(), v: 1}}, line)
}

// group reads one group of /api/v1/rules, of which only the active alerts of its
// rules matter.
func (d *apiDecoder) group() error {
	line := d.here()
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	var g struct {
		Rules []struct {
			Alerts []apiAlert `json:"alerts"`
		} `json:"rules"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		d.part.warnLine(line, "damaged rule group skipped: "+clip([]byte(err.Error()), 120))
		return nil
	}
	for _, r := range g.Rules {
		for _, a := range r.Alerts {
			d.takeAlert(a, line)
		}
	}
	return nil
}

// victoriaLine is one line of VictoriaMetrics' /api/v1/export. Values are numbers,
// null, or the strings "NaN", "Infinity", "-Infinity". Timestamps are in
// milliseconds.
type victoriaLine struct {
	Metric     map[string]string `json:"metric"`
	Values     []json.RawMessage `json:"values"`
	Timestamps []int64           `json:"timestamps"`
}

func decodeVictoria(p *Part, data []byte) {
	d := &apiDecoder{part: p, data: data}
	line := uint32(0)
	for text := range bytes.SplitSeq(trimBOM(data), []byte("\n")) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		var v victoriaLine
		if err := json.Unmarshal(text, &v); err != nil {
			p.warnLine(line, "no sample, skipped: "+clip([]byte(err.Error()), 120))
			continue
		}
		if len(v.Values) != len(v.Timestamps) {
			p.warnLine(line, fmt.Sprintf("%d values for %d time stamps: the surplus is skipped", len(v.Values), len(v.Timestamps)))
		}
		d.take(v.Metric, v.samples(), line)
	}
}

func (v *victoriaLine) samples() []apiSample {
	out := make([]apiSample, 0, len(v.Values))
	for i, raw := range v.Values[:min(len(v.Values), len(v.Timestamps))] {
		f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
		if err != nil {
			f = math.NaN() // null
		}
		ms := v.Timestamps[i]
		if ms > -maxMillis && ms < maxMillis {
			out = append(out, apiSample{ms * 1e6, f})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].at < out[j].at })
	return out
}
