package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/smithy-go"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Responses of the Classic API name every machine of a load balancer. In a cluster of
// thousands of nodes they are megabytes, and parsing them is most of what a call costs.
// So the unused part is cut off before the SDK sees it.

// skipAnswers adds a step to the calls that register machines and take them off: the
// SDK gets to know that they succeeded, and sees nothing of the machines that they
// list. Refusals pass through.
func skipAnswers() []func(*middlewareStack) error {
	step := changeAnswers("BerthUnread", func(body io.ReadCloser) (io.ReadCloser, error) {
		_, err := io.Copy(io.Discard, body) // to its end, or the connection could not be used again
		_ = body.Close()                    // nothing more is wanted of it
		return http.NoBody, err
	})
	return []func(*middlewareStack) error{func(stack *middlewareStack) error {
		switch stack.ID() {
		case "RegisterInstancesWithLoadBalancer", "DeregisterInstancesFromLoadBalancer":
			return step(stack)
		}
		return nil
	}}
}

// withoutMachines is an option of DescribeLoadBalancers for reads that do not need the
// machines.
func withoutMachines(o *elb.Options) {
	o.APIOptions = append(o.APIOptions, changeAnswers("BerthWithoutMachines", func(body io.ReadCloser) (io.ReadCloser, error) {
		return readCloser{newCutter(body, "<Instances>", "</Instances>"), body}, nil
	}))
}

// changeAnswers returns a middleware step that changes the bodies of responses to calls
// that succeeded. It is added last, so that it sees them first.
func changeAnswers(name string, change func(io.ReadCloser) (io.ReadCloser, error)) func(*middlewareStack) error {
	step := smithymiddleware.DeserializeMiddlewareFunc(name, func(ctx context.Context, in smithymiddleware.DeserializeInput, next smithymiddleware.DeserializeHandler) (smithymiddleware.DeserializeOutput, smithymiddleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		answer, ok := out.RawResponse.(*smithyhttp.Response)
		if err != nil || !ok || answer.StatusCode < 200 || answer.StatusCode >= 300 {
			return out, metadata, err
		}
		if answer.Body, err = change(answer.Body); err != nil {
			err = &smithy.DeserializationError{Err: fmt.Errorf("answer: %w", err)} // as the SDK says it
		}
		return out, metadata, err
	})
	return func(stack *middlewareStack) error { return stack.Deserialize.Add(step, smithymiddleware.After) }
}

type readCloser struct {
	io.Reader
	io.Closer
}

// cutter leaves out what stands between two marks, and keeps the marks.
type cutter struct {
	from       io.Reader
	open, shut []byte
	buffer     []byte
	rest       []byte // of the buffer: what was read and not passed on
	pass       int    // how much of the rest may be passed on
	inside     bool   // the text that follows is between the marks
	err        error  // how reading ended
}

func newCutter(from io.Reader, open, shut string) *cutter {
	return &cutter{from: from, open: []byte(open), shut: []byte(shut), buffer: make([]byte, 32<<10)}
}

// Read implements io.Reader.
func (c *cutter) Read(p []byte) (int, error) {
	for c.pass == 0 {
		if err := c.look(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest[:c.pass])
	c.rest, c.pass = c.rest[n:], c.pass-n
	return n, nil
}

// look finds what may be passed on next, or reads on. The end of what was read
// waits for more as long as a mark could have begun in it.
func (c *cutter) look() error {
	mark := c.open
	if c.inside {
		mark = c.shut
	}
	switch at := bytes.Index(c.rest, mark); {
	case at >= 0 && c.inside:
		c.rest, c.inside = c.rest[at:], false
		return nil
	case at >= 0:
		c.pass, c.inside = at+len(mark), true
		return nil
	}
	known := max(len(c.rest)-len(mark)+1, 0)
	if c.err != nil {
		known = len(c.rest)
	}
	switch {
	case c.inside:
		c.rest = c.rest[known:]
	case known > 0:
		c.pass = known
		return nil
	}
	if c.err != nil {
		return c.err
	}
	begun := copy(c.buffer, c.rest)
	n, err := c.from.Read(c.buffer[begun:])
	c.rest, c.err = c.buffer[:begun+n], err
	return nil
}
