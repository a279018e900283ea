package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/berth-lb/berth/providers/gce/model"
)

const (
	cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
	// noTokenURL in token-url means Application Default Credentials.
	noTokenURL = "nil"
	// largestToken bounds the answer of a token server, in bytes.
	largestToken = 1 << 20
	// tokenLimit bounds a call to a token server.
	tokenLimit = 30 * time.Second
)

// tokens finds credentials as the official controllers do: from the metadata
// server, from Application Default Credentials, or from a server of one's own.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce.go (generateCloudConfig).
func tokens(ctx context.Context, c model.Config) (oauth2.TokenSource, error) {
	machine := google.ComputeTokenSource("", cloudPlatform)
	switch c.TokenURL {
	case "":
		return machine, nil
	case noTokenURL:
		return google.DefaultTokenSource(ctx, cloudPlatform)
	}
	client := &http.Client{Timeout: tokenLimit, Transport: &oauth2.Transport{Source: machine}}
	return oauth2.ReuseTokenSource(nil, &tokenServer{ctx: ctx, client: client, url: c.TokenURL, body: c.TokenBody}), nil
}

// tokenServer exchanges the machine's token for one that may call the API.
// Source: kubernetes/cloud-provider-gcp:providers/gce/token_source.go.
type tokenServer struct {
	ctx       context.Context //nolint:containedctx // oauth2.TokenSource has no other way to hand it over
	client    *http.Client
	url, body string
}

// Token asks for a new token.
func (t *tokenServer) Token() (*oauth2.Token, error) {
	request, err := http.NewRequestWithContext(t.ctx, http.MethodPost, t.url, strings.NewReader(t.body))
	if err != nil {
		return nil, fmt.Errorf("token-url: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("token-url: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, largestToken))
	if err != nil {
		return nil, fmt.Errorf("token-url: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("token-url: the server answered %s", response.Status)
	}
	var answer struct {
		AccessToken string    `json:"accessToken"`
		ExpireTime  time.Time `json:"expireTime"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("token-url: %w", err)
	}
	if answer.AccessToken == "" {
		return nil, errors.New("token-url: the answer has no accessToken")
	}
	return &oauth2.Token{AccessToken: answer.AccessToken, Expiry: answer.ExpireTime}, nil
}
