package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// mostAnswer bounds an answer of IAM in bytes.
const mostAnswer = 1 << 20

// simulated is an answer of SimulatePrincipalPolicy. IAM has no client in this module: it is
// called by this check alone.
// Source: IAM API reference, SimulatePrincipalPolicy.
type simulated struct {
	Results []struct {
		Action   string `xml:"EvalActionName"`
		Decision string `xml:"EvalDecision"`
	} `xml:"SimulatePrincipalPolicyResult>EvaluationResults>member"`
}

// refusedXML is the answer to a refused call.
type refusedXML struct {
	Code    string `xml:"Error>Code"`
	Message string `xml:"Error>Message"`
}

// evaluate returns the decision of IAM on each action of the statement for the caller.
func (s *Session) evaluate(ctx context.Context, caller string, statement roleStatement) (map[string]string, error) {
	source, err := principalOf(caller)
	if err != nil {
		return nil, err
	}
	form := url.Values{"Action": {"SimulatePrincipalPolicy"}, "Version": {"2010-05-08"}, "PolicySourceArn": {source}, "MaxItems": {"1000"}}
	for i, action := range statement.Action {
		form.Set(fmt.Sprintf("ActionNames.member.%d", i+1), action)
	}
	keys := statement.keys(s.config.Cluster.ID)
	for i, key := range slices.Sorted(maps.Keys(keys)) {
		entry := fmt.Sprintf("ContextEntries.member.%d.", i+1)
		form.Set(entry+"ContextKeyName", key)
		form.Set(entry+"ContextKeyValues.member.1", keys[key])
		form.Set(entry+"ContextKeyType", "string")
	}
	var answer simulated
	if err := s.callIAM(ctx, form, &answer); err != nil {
		return nil, fmt.Errorf("iam:SimulatePrincipalPolicy: %w", err)
	}
	out := map[string]string{}
	for _, r := range answer.Results {
		out[r.Action] = r.Decision
	}
	return out, nil
}

// principalOf returns the ARN of the user or role that a caller acts as. That of a session
// lacks the path of its role, which IAM needs.
func principalOf(caller string) (string, error) {
	a, err := arn.Parse(caller)
	if err != nil {
		return "", err
	}
	switch kind, rest, _ := strings.Cut(a.Resource, "/"); kind {
	case "user":
		return caller, nil
	case "assumed-role":
		name, _, _ := strings.Cut(rest, "/")
		a.Service, a.Resource = "iam", "role/"+name
		return a.String(), nil
	}
	return "", fmt.Errorf("%s is neither a user nor a role", caller)
}

// callIAM makes a signed call. IAM is the only service without a region.
func (s *Session) callIAM(ctx context.Context, form url.Values, answer any) error {
	endpoint, region := "https://iam.amazonaws.com", "us-east-1"
	switch {
	case strings.HasPrefix(s.config.Region, "cn-"):
		endpoint, region = "https://iam.cn-north-1.amazonaws.com.cn", "cn-north-1"
	case strings.HasPrefix(s.config.Region, "us-gov-"):
		endpoint, region = "https://iam.us-gov.amazonaws.com", "us-gov-west-1"
	}
	// The same variables as the SDK's clients read.
	endpoint = cmp.Or(os.Getenv("AWS_ENDPOINT_URL_IAM"), os.Getenv("AWS_ENDPOINT_URL"), endpoint)
	body := form.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body)) //nolint:gosec // the operator selects the endpoint
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	keys, err := s.sdk.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(body))
	if err := v4.NewSigner().SignHTTP(ctx, keys, request, hex.EncodeToString(sum[:]), "iam", region, s.now()); err != nil {
		return err
	}
	response, err := s.sdk.HTTPClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var refused refusedXML
		if err := xml.Unmarshal(text, &refused); err != nil {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		return fmt.Errorf("%s: %s", refused.Code, refused.Message)
	}
	return xml.Unmarshal(text, answer)
}
