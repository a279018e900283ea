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

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/berth-lb/berth/providers/gce/model"
)

const (
	cloudPlatform  = "https://www.googleapis.com/auth/cloud-platform"
	commonUniverse = "googleapis.com"
	// noTokenURL in token-url means Application Default Credentials.
	noTokenURL = "nil"
	// largestToken bounds the answer of a token server, in bytes.
	largestToken = 1 << 20
	// tokenLimit bounds a call to a token server.
	tokenLimit = 30 * time.Second
)

// credentials are what calls are authenticated with, and the universe that they are for.
type credentials struct {
	tokens   oauth2.TokenSource
	universe string // domain of the APIs; empty: googleapis.com
}

// credentialsOf finds credentials as the official controllers do: from the metadata
// server, from Application Default Credentials, or from a token server.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce.go (generateCloudConfig, clientOptions).
func credentialsOf(ctx context.Context, c model.Config) (credentials, error) {
	machine := google.ComputeTokenSource("", cloudPlatform)
	switch c.TokenURL {
	case "":
		universe, err := machineUniverse(ctx, c)
		return credentials{machine, universe}, err
	case noTokenURL:
		return defaultCredentials(ctx, c)
	}
	client := &http.Client{Timeout: tokenLimit, Transport: &oauth2.Transport{Source: machine}}
	source := &tokenServer{ctx: ctx, client: client, url: c.TokenURL, body: c.TokenBody}
	return credentials{oauth2.ReuseTokenSource(nil, source), c.Universe}, nil
}

// machineUniverse asks the metadata server for the universe of the machine, unless the
// configuration names it or an endpoint. Servers without the path are googleapis.com's.
// Source: Compute Engine documentation, predefined VM metadata keys, universe/universe-domain.
func machineUniverse(ctx context.Context, c model.Config) (string, error) {
	if c.Universe != "" || c.APIEndpoint != "" {
		return c.Universe, nil
	}
	domain, err := metadata.NewClient(nil).GetWithContext(ctx, "universe/universe-domain")
	if _, absent := errors.AsType[metadata.NotDefinedError](err); absent {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("universe domain: %w", err)
	}
	return strings.TrimSpace(domain), nil
}

// defaultCredentials are Application Default Credentials. Keys of service accounts of other
// universes sign their tokens themselves: there is no token server for them.
// Source: golang.org/x/oauth2/google (JWTAccessTokenSourceWithScope).
func defaultCredentials(ctx context.Context, c model.Config) (credentials, error) {
	found, err := google.FindDefaultCredentials(ctx, cloudPlatform)
	if err != nil {
		return credentials{}, err
	}
	out := credentials{found.TokenSource, c.Universe}
	if out.universe == "" && (c.APIEndpoint == "" || len(found.JSON) > 0) {
		if out.universe, err = found.GetUniverseDomain(); err != nil {
			return credentials{}, fmt.Errorf("universe domain: %w", err)
		}
	}
	var file struct {
		Type string `json:"type"`
	}
	if len(found.JSON) > 0 && out.universe != "" && out.universe != commonUniverse {
		if err := json.Unmarshal(found.JSON, &file); err != nil {
			return credentials{}, err
		}
		if file.Type == "service_account" {
			out.tokens, err = google.JWTAccessTokenSourceWithScope(found.JSON, cloudPlatform)
		}
	}
	return out, err
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
