package gce

import (
	"context"
	"net/http"

	"github.com/berth-lb/berth/providers"
)

// OpenOver is Open over a transport of the test's, without credentials.
func OpenOver(ctx context.Context, c Config, env providers.Env, next http.RoundTripper) (providers.Session[*Facts], Config, error) {
	s, err := openOver(ctx, c, env, next)
	if err != nil {
		return nil, c, err
	}
	return s, s.config, nil
}
