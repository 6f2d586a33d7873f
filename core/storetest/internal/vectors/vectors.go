// Package vectors reads traces with known answers and plays them on a store. The
// suite and the replay command share it.
//
// A trace is one JSON object a line, in one of two shapes: decisions under one
// limit, or several limits that admit all or nothing.
package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Trace is a series of steps on one key.
type Trace struct {
	Name   string
	Layers []Layer
	Steps  []Step
}

// Layer is one limit of a trace, a policy of its own.
type Layer struct {
	Limit    ratelimit.Limit
	MaxDelay time.Duration
	Known    []ratelimit.Limit // every limit that the trace sets on the layer
}

// Step is one thing that happens in a trace.
type Step struct {
	Kind    Kind
	At      int64           // µs since 1970
	Costs   []int64         // of a Take, one a layer
	Units   int64           // of an Adjust: charged, or given back where negative
	TakenAt int64           // of a refund: when the charge was made
	Limit   ratelimit.Limit // of a Change
	Want    []Answer        // what the store should say, one a layer
	Text    string          // the step as it is written
}

// Kind is the kind of a step.
type Kind uint8

// The kinds of a step.
const (
	Take Kind = iota
	Adjust
	Change
)

// Answer is what a store says of one layer. Waits are in µs, -1 for never.
type Answer struct {
	Fits                      bool
	Remaining                 int64
	Retry, Reset, Delay, Next int64
}

// Start returns the instant of the first step that has one.
func (t *Trace) Start() int64 {
	for _, s := range t.Steps {
		if s.Kind != Change {
			return s.At
		}
	}
	return 0
}

type limitLine struct {
	Algorithm ratelimit.Algorithm `json:"algorithm"`
	Quota     int64               `json:"quota"`
	Window    int64               `json:"window_us"`
	Burst     int64               `json:"burst"`
	MaxDelay  int64               `json:"max_delay_us"`
}

func (l limitLine) layer() (Layer, error) {
	limit := ratelimit.Limit{Algorithm: l.Algorithm, Quota: l.Quota, Window: time.Duration(l.Window) * time.Microsecond, Burst: l.Burst}
	if l.MaxDelay < 0 {
		return Layer{}, errors.New("max_delay_us is negative")
	}
	return Layer{limit, time.Duration(l.MaxDelay) * time.Microsecond, []ratelimit.Limit{limit}}, limit.Validate()
}

// Parse reads one line of either shape.
func Parse(line []byte) (*Trace, error) {
	var in struct {
		Name   string              `json:"name"`
		Limit  *limitLine          `json:"limit"`
		Limits []limitLine         `json:"limits"`
		Steps  [][]json.RawMessage `json:"steps"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one object in the line")
	}
	if (in.Limit == nil) == (in.Limits == nil) {
		return nil, errors.New(`want either "limit" or "limits"`)
	}
	t := &Trace{Name: in.Name}
	limits, read := in.Limits, t.layered
	if in.Limit != nil {
		limits, read = []limitLine{*in.Limit}, t.single
	}
	for i, l := range limits {
		layer, err := l.layer()
		if err != nil {
			return nil, fmt.Errorf("limit %d: %w", i, err)
		}
		t.Layers = append(t.Layers, layer)
	}
	for i, raw := range in.Steps {
		step, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		text, _ := json.Marshal(raw) // it was just read as JSON
		step.Text = string(text)
		t.Steps = append(t.Steps, step)
	}
	return t, nil
}

// single reads a step of a trace with one limit.
func (t *Trace) single(raw []json.RawMessage) (s Step, err error) {
	layer := &t.Layers[0]
	var op string
	if len(raw) > 0 {
		err = json.Unmarshal(raw[0], &op)
	}
	var want Answer
	switch {
	case err != nil:
		return s, err
	case op == "take":
		s.Costs = make([]int64, 1)
		err = fields(raw[1:], &s.At, &s.Costs[0], &want.Fits, &want.Remaining, &want.Retry, &want.Reset, &want.Delay, &want.Next)
	case op == "adjust":
		s.Kind = Adjust
		err = fields(raw[1:], &s.At, &s.Units, &s.TakenAt, &want.Remaining, &want.Reset)
	case op == "limit":
		s.Kind, s.Limit = Change, layer.Limit
		if err = fields(raw[1:], &s.Limit.Quota, &s.Limit.Burst); err == nil {
			err = s.Limit.Validate()
		}
		layer.Known = append(layer.Known, s.Limit)
	default:
		return s, fmt.Errorf("unknown kind %q", op)
	}
	s.Want = []Answer{want}
	return s, err
}

// layered reads a step of a trace with several limits.
func (t *Trace) layered(raw []json.RawMessage) (s Step, err error) {
	var op string
	var allowed bool
	var answers [][]json.RawMessage
	if err := fields(raw, &op, &s.At, &s.Costs, &allowed, &answers); err != nil {
		return s, err
	}
	if op != "take" {
		return s, fmt.Errorf("unknown kind %q", op)
	}
	if len(s.Costs) != len(t.Layers) || len(answers) != len(t.Layers) {
		return s, fmt.Errorf("%d costs and %d answers for %d limits", len(s.Costs), len(answers), len(t.Layers))
	}
	fit := true
	for _, a := range answers {
		var want Answer
		if err := fields(a, &want.Fits, &want.Remaining, &want.Retry, &want.Reset, &want.Delay); err != nil {
			return s, err
		}
		want.Next = unknown
		fit = fit && want.Fits
		s.Want = append(s.Want, want)
	}
	if fit != allowed {
		return s, errors.New("allowed is not what the limits say")
	}
	return s, nil
}

// fields reads the elements of an array, exactly as many as there are.
func fields(raw []json.RawMessage, into ...any) error {
	if len(raw) != len(into) {
		return fmt.Errorf("has %d elements, want %d", len(raw), len(into))
	}
	for i, r := range raw {
		if string(r) == "null" {
			return fmt.Errorf("element %d is null", i)
		}
		if err := json.Unmarshal(r, into[i]); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}
