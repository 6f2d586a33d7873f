package ratelimit

import "strconv"

// AnswerStyle says what the body of a denial is.
type AnswerStyle uint8

const (
	// AnswerJSON is {"error":"rate_limit_exceeded","retry_after":30}.
	AnswerJSON AnswerStyle = iota
	// AnswerProblem is application/problem+json (RFC 9457), with the problem types
	// of the IETF's RateLimit header fields draft.
	AnswerProblem
	// AnswerText is a line of plain text.
	AnswerText
)

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
	typeText    = "text/plain; charset=utf-8"
	problemBase = "https://iana.org/assignments/http-problem-types#"
)

// Body returns the body to answer with where Status is not 0, and its media type. It
// is nil for a HEAD request. Valid until End.
func (t *Ticket) Body() (contentType string, body []byte) {
	if t.status == 0 {
		return "", nil
	}
	if !t.done {
		t.render(none)
	}
	style := t.limiter.answer
	contentType = [...]string{typeJSON, typeProblem, typeText}[style]
	if t.view != nil {
		if m, _ := t.view.Text(TextMethod, "", 0); m == "HEAD" {
			return contentType, nil
		}
	}
	from := len(t.text)
	switch {
	case style == AnswerProblem:
		t.text = t.problem(t.text)
	case style == AnswerText:
		t.text = t.plain(t.text)
	default:
		t.text = t.json(t.text)
	}
	return contentType, t.text[from:len(t.text):len(t.text)]
}

func (t *Ticket) json(b []byte) []byte {
	switch t.outcome {
	case Denied:
		b = t.appendRetry(append(b, `{"error":"rate_limit_exceeded"`...))
		return append(b, '}')
	case Unavailable:
		return append(b, `{"error":"unavailable"}`...)
	default:
		return append(b, `{"error":"internal_error"}`...)
	}
}

func (t *Ticket) appendRetry(b []byte) []byte {
	if t.retry == 0 {
		return b
	}
	return strconv.AppendInt(append(b, `,"retry_after":`...), t.retry, 10)
}

func (t *Ticket) plain(b []byte) []byte {
	switch t.outcome {
	case Denied:
		b = append(b, "rate limit exceeded"...)
		if t.retry > 0 {
			b = strconv.AppendInt(append(b, ", retry in "...), t.retry, 10)
			b = append(b, " s"...)
		}
		return append(b, '\n')
	case Unavailable:
		return append(b, "unavailable\n"...)
	default:
		return append(b, "internal error\n"...)
	}
}

func (t *Ticket) problem(b []byte) []byte {
	switch t.outcome {
	case Denied:
		b = append(b, `{"type":"`+problemBase+`quota-exceeded","title":"Rate limit exceeded","status":429`...)
		b = append(t.appendRetry(b), `,"violated-policies":[`...)
		first := true
		for i := range t.decisions {
			if d := &t.decisions[i]; d.Outcome == Denied && !d.Fits && d.Enforced() {
				if !first {
					b = append(b, ',')
				}
				first = false
				b = append(append(append(b, '"'), d.Policy...), '"') // a name needs no escaping
			}
		}
		return append(b, `]}`...)
	case Unavailable:
		return append(b, `{"type":"`+problemBase+`temporary-reduced-capacity","title":"Unavailable","status":503}`...)
	default:
		return append(b, `{"type":"about:blank","title":"Internal Server Error","status":500}`...)
	}
}
