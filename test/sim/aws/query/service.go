package query

import (
	"bytes"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Request is one decoded call.
type Request struct {
	Action, Version string
	// ID is the request id, which the answer carries as well.
	ID string
	Params
	// Now is the time of the call; operations read no other clock.
	Now time.Time
}

// Op is one operation. A nil result is the empty answer: an empty result
// element in AWS Query, return=true in EC2 Query. Errors other than *Error are
// answered as InternalFailure (500).
type Op func(*Request) (any, error)

// Service is one API version of one service.
type Service struct {
	// Name is a short name for journal and faults: "ec2", "elb", "elbv2".
	Name      string
	Version   string
	Namespace string
	Style     Style
	Ops       map[string]Op
	// Writes reports whether an action changes state. Without it, none does.
	Writes func(action string) bool
	// Freeze is optional. It gives a service that answers reads from a deep copy
	// of the present state; stale reads are made of it.
	Freeze func() *Service

	encoder Encoder
}

// NoDescription reports whether an action changes state in a service that reads by Describe
// actions only.
func NoDescription(action string) bool { return !strings.HasPrefix(action, "Describe") }

// Response is a finished answer, ready to be written, recorded or dropped.
type Response struct {
	Status      int
	Code        string // the error code, "" on success
	Body        []byte
	RequestID   string
	ContentType string
}

// maxForm bounds a request body; the largest real calls (1000 instances) stay far below.
const maxForm = 4 << 20

// ReadForm reads the form of a call, from the query and the body.
func ReadForm(r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, Errorf("MalformedQueryString", "The query string contains a syntax error.")
	}
	return r.Form, nil
}

// NewRequest makes a request of a form, with a fresh request id.
func (s *Service) NewRequest(form url.Values, now time.Time) *Request {
	return &Request{
		Action:  form.Get("Action"),
		Version: form.Get("Version"),
		ID:      uuid.NewString(),
		Params:  ParseForm(form, s.Style),
		Now:     now.UTC(),
	}
}

// Do runs a request and gives its finished answer.
func (s *Service) Do(req *Request) *Response {
	if req.Action == "" {
		return s.Fail(req, Errorf("MissingAction", "The request must contain the parameter Action"))
	}
	op, ok := s.Ops[req.Action]
	if !ok {
		if s.Style == EC2Query {
			return s.Fail(req, Errorf("InvalidAction", "The action %s is not valid for this web service.", req.Action))
		}
		return s.Fail(req, Errorf("InvalidAction", "Could not find operation %s for version %s", req.Action, req.Version))
	}
	result, err := op(req)
	if err != nil {
		return s.Fail(req, err)
	}
	body, err := s.marshal(req, result)
	if err != nil {
		return s.Fail(req, err)
	}
	return &Response{Status: http.StatusOK, Body: body, RequestID: req.ID, ContentType: s.contentType()}
}

// A client of the official Go SDK closes its request's body as soon as the
// answer begins, while the transport may still be looking for the end of that
// body; it then drops the connection, and whatever of the answer was not read by
// then is lost. No real cloud is quick enough for that. The pause costs only
// answers that do not fit into the client's first read.
// Source: github.com/aws/smithy-go:transport/http/client.go.
const (
	oneRead = 2 << 10
	pause   = 3 * time.Millisecond
)

// Write sends the answer.
func (r *Response) Write(w http.ResponseWriter) {
	if len(r.Body) > oneRead {
		time.Sleep(pause)
	}
	h := w.Header()
	h.Set("Content-Type", r.ContentType)
	h.Set("X-Amzn-Requestid", r.RequestID)
	h.Set("Content-Length", strconv.Itoa(len(r.Body)))
	w.WriteHeader(r.Status)
	// A disconnected client is no fault of the simulator.
	_, _ = w.Write(r.Body)
}

// Handler answers calls of this one service at the time of a clock, without journal, throttle
// and faults; the assembled cloud is what adds those.
func (s *Service) Handler(now func() time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form, err := ReadForm(r)
		req := s.NewRequest(form, now())
		if err != nil {
			s.Fail(req, err).Write(w)
			return
		}
		s.Do(req).Write(w)
	}
}

func (s *Service) contentType() string {
	if s.Style == EC2Query {
		return "text/xml;charset=UTF-8"
	}
	return "text/xml"
}

const xmlHeader = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// marshal writes the envelope by hand around the encoded result, because
// encoding/xml can neither inline a result of unknown type nor name the root at run time.
func (s *Service) marshal(req *Request, result any) ([]byte, error) {
	inner, err := s.encoder.Encode(s.Style, result)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if s.Style == EC2Query {
		b.WriteString(xmlHeader)
	}
	b.WriteString("<" + req.Action + `Response xmlns="` + s.Namespace + `">`)
	switch {
	case s.Style == EC2Query && result == nil:
		b.WriteString("<requestId>" + req.ID + "</requestId><return>true</return>")
	case s.Style == EC2Query:
		b.WriteString("<requestId>" + req.ID + "</requestId>")
		b.Write(inner)
	default:
		b.WriteString("<" + req.Action + "Result>")
		b.Write(inner)
		b.WriteString("</" + req.Action + "Result><ResponseMetadata><RequestId>" + req.ID + "</RequestId></ResponseMetadata>")
	}
	b.WriteString("</" + req.Action + "Response>")
	return b.Bytes(), nil
}

type ec2Failure struct {
	XMLName   xml.Name `xml:"Response"`
	Code      string   `xml:"Errors>Error>Code"`
	Message   string   `xml:"Errors>Error>Message"`
	RequestID string   `xml:"RequestID"`
}

type failure struct {
	XMLName   xml.Name `xml:"ErrorResponse"`
	Xmlns     string   `xml:"xmlns,attr"`
	Type      string   `xml:"Error>Type"`
	Code      string   `xml:"Error>Code"`
	Message   string   `xml:"Error>Message"`
	RequestID string   `xml:"RequestId"`
}

// Fail gives the finished error answer in the dialect of the service.
func (s *Service) Fail(req *Request, err error) *Response {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Status: http.StatusInternalServerError, Code: "InternalFailure", Message: err.Error()}
	}
	status := e.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	var doc any = ec2Failure{Code: e.Code, Message: e.Message, RequestID: req.ID}
	if s.Style == AWSQuery {
		side := "Sender"
		if status >= http.StatusInternalServerError {
			side = "Receiver"
		}
		doc = failure{Xmlns: s.Namespace, Type: side, Code: e.Code, Message: e.Message, RequestID: req.ID}
	}
	// Neither document can fail to encode: both hold strings only.
	body, _ := xml.Marshal(doc)
	if s.Style == EC2Query {
		body = append([]byte(xmlHeader), body...)
	}
	return &Response{Status: status, Code: e.Code, Body: body, RequestID: req.ID, ContentType: s.contentType()}
}
