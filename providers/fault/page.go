package fault

import "fmt"

// PageError is the error of a call that was answered with a page of HTML, which no API of a cloud is.
// Its status says nothing about the resource of the call, and nothing about the call's effect.
type PageError struct {
	Operation string // of the call
	Status    int    // of HTTP
}

// Error names the operation, the status and what can be the cause.
func (p *PageError) Error() string {
	return fmt.Sprintf("%s was answered with HTTP status %d and a page of HTML: a proxy in between, or an endpoint that lacks the operation, can answer so", p.Operation, p.Status)
}
