package props

import (
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Misspelt checks a live public Service that gets an annotation whose key or value is a
// misspelt wish for an internal load balancer, which an official controller does not read. The
// mistake is reported. The load balancer is kept and follows the nodes, for the process that
// has served the Service and for one that finds it.
func Misspelt(t *testing.T, fresh New, cloud providers.Entry, c Case, key, value string) {
	exposed := providers.Beside(cloud)[0].Exposed
	testMistake(t, func(t testing.TB) Subject { return besideOthers{fresh(t), exposed} }, c, mistake{key, value, annotations.Error, false})
}

// besideOthers is a cloud as the program opens it, which refuses what would be exposed.
type besideOthers struct {
	Subject
	exposed func(providers.Request) annotations.Problems
}

// Open implements Subject.
func (b besideOthers) Open(t testing.TB) providers.Bound {
	bound := b.Subject.Open(t)
	bound.Exposed = b.exposed
	return bound
}
