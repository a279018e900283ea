package providers

import "context"

type fenceKey struct{}

// WithFence returns a context whose calls check the function before they are sent: an error
// explains why the process must not write any more.
func WithFence(ctx context.Context, err func() error) context.Context {
	return context.WithValue(ctx, fenceKey{}, err)
}

// Fenced returns why a call of the context must not be sent; nil: it may.
func Fenced(ctx context.Context) error {
	if err, ok := ctx.Value(fenceKey{}).(func() error); ok {
		return err()
	}
	return nil
}
