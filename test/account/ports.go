package account

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// PortOfOther checks that a Service reports which other one has its port on an existing load balancer. existing creates
// one and returns the annotations that name it.
func (c Cloud[O, S]) PortOfOther(t *testing.T, opt O, existing func(S) map[string]string) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		w := c.Begin(t, opt)
		notes := existing(w.Sim)
		first := c.complete(props.Service("web", notes).Service)
		w.Serve(first)
		second := c.complete(Numbered(1, notes))
		said := ""
		for range 3 { // a new Service is created without a read
			res, err := w.Once(second, false)
			if err != nil {
				t.Fatal(err)
			}
			said = fmt.Sprint(res.Draft.Problems)
		}
		if want := "of Service " + first.Namespace + "/" + first.Name; !strings.Contains(said, want) {
			t.Errorf("%s: want %q", said, want)
		}
	})
}
