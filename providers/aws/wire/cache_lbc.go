package wire

import (
	"slices"
	"sync"
)

// stackCache remembers which Service the tags of a load balancer name, by ARN; empty
// where the tags name none of this cluster.
type stackCache struct {
	sync.Mutex
	known map[string]string
}

// unknownStacks are those of the load balancers of which it has not been asked yet.
func (c *factCache) unknownStacks(arns []string) []string {
	c.stacks.Lock()
	defer c.stacks.Unlock()
	return slices.DeleteFunc(slices.Clone(arns), func(arn string) bool { _, ok := c.stacks.known[arn]; return ok })
}

func (c *factCache) learnStack(arn, service string) {
	c.stacks.Lock()
	defer c.stacks.Unlock()
	c.stacks.known[arn] = service
}

func (c *factCache) stackOf(arn string) string {
	c.stacks.Lock()
	defer c.stacks.Unlock()
	return c.stacks.known[arn]
}

// keepStacks forgets all but those of the load balancers, which are sorted.
func (c *factCache) keepStacks(arns []string) {
	c.stacks.Lock()
	defer c.stacks.Unlock()
	for arn := range c.stacks.known {
		if _, ok := slices.BinarySearch(arns, arn); !ok {
			delete(c.stacks.known, arn)
		}
	}
}
