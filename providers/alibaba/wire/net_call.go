package wire

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/berth-lb/berth/providers/fault"
)

// pagesOf returns all items of a list of the NLB API.
func pagesOf[T any](ctx context.Context, s *Session, action, field string, params url.Values) ([]T, error) {
	var out []T
	params = withMost(params)
	for {
		var answer map[string]json.RawMessage
		if err := s.read(ctx, action, params, &answer); err != nil {
			return nil, err
		}
		var items []T
		var next string
		if raw, ok := answer[field]; ok {
			if err := json.Unmarshal(raw, &items); err != nil {
				return nil, err
			}
		}
		if raw, ok := answer["NextToken"]; ok {
			_ = json.Unmarshal(raw, &next) // what is no text ends the list
		}
		out = append(out, items...)
		if next == "" {
			return out, nil
		}
		params.Set("NextToken", next)
	}
}

// signHeaders signs a call in its headers. Parameters of reads are in the query, those of writes in the body.
// Source: Alibaba Cloud, "Request syntax and signature method V3".
func (s *Session) signHeaders(r *http.Request, c credentials, action, version, body string) {
	digest := sha256.Sum256([]byte(body))
	for name, value := range map[string]string{
		"X-Acs-Action": action, "X-Acs-Version": version, "X-Acs-Date": s.now().UTC().Format(time.RFC3339), "X-Acs-Signature-Nonce": uuid.NewString(),
		"X-Acs-Content-Sha256": hex.EncodeToString(digest[:]), "X-Acs-Security-Token": c.token,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	headers := map[string]string{"host": r.URL.Host}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-acs-") || lower == "content-type" {
			headers[lower] = strings.TrimSpace(r.Header.Get(name))
		}
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var canonical strings.Builder
	for _, name := range names {
		canonical.WriteString(name + ":" + headers[name] + "\n")
	}
	signed := strings.Join(names, ";")
	request := strings.Join([]string{r.Method, "/", encodeParams(r.URL.Query()), canonical.String(), signed, hex.EncodeToString(digest[:])}, "\n")
	sum := sha256.Sum256([]byte(request))
	mac := hmac.New(sha256.New, []byte(c.secret))
	_, _ = mac.Write([]byte("ACS3-HMAC-SHA256\n" + hex.EncodeToString(sum[:]))) // a hash takes all
	r.Header.Set("Authorization", "ACS3-HMAC-SHA256 Credential="+c.keyID+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(mac.Sum(nil)))
}

// requestNet returns a call of the NLB API.
func (s *Session) requestNet(ctx context.Context, c credentials, action, version, base string, params url.Values) (*http.Request, error) {
	query, body := url.Values{}, ""
	if isReadAction(action) {
		query = params
	} else {
		body = encodeParams(params)
	}
	if query.Get("RegionId") == "" {
		query = withRegion(query, s.config.Region)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/?"+encodeParams(query), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.signHeaders(r, c, action, version, body)
	return r, nil
}

func withRegion(params url.Values, region string) url.Values {
	out := url.Values{"RegionId": {region}}
	for name, values := range params {
		out[name] = values
	}
	return out
}

func isReadAction(action string) bool {
	return strings.HasPrefix(action, "List") || strings.HasPrefix(action, "Get")
}

// netStates returns the states of load balancers, and keeps them for the creations that wait.
func (s *Session) netStates(ctx context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	for some := range slices.Chunk(ids, idsNet) {
		found, err := s.netBalancers(ctx, some)
		if err != nil {
			failed = err
			continue
		}
		s.netMu.Lock()
		for _, id := range some {
			out[id] = netPending
			if _, again := s.missing[id]; !again {
				s.missing[id] = s.now()
			}
			if _, seen := s.netSeen[id]; seen || s.now().Sub(s.missing[id]) > longestLag {
				out[id] = jobGone
				delete(s.missing, id)
			}
		}
		for _, d := range found {
			delete(s.missing, d.ID)
			out[d.ID] = d.Status
			s.netSeen[d.ID] = d
		}
		s.netMu.Unlock()
	}
	return out, failed
}

// takeNet returns a load balancer as it was last seen while it was waited for.
func (s *Session) takeNet(id string) netDoc {
	s.netMu.Lock()
	defer s.netMu.Unlock()
	d := s.netSeen[id]
	delete(s.netSeen, id)
	return d
}

// changeNet makes a writing call about a load balancer or a server group, which take one change at a time, and
// waits until its job has ended. A call that meets a change of others is repeated.
func (s *Session) changeNet(ctx context.Context, lock, action string, params url.Values, out any) error {
	var job string
	return s.locks.Change(ctx, lock,
		func() error {
			var answer json.RawMessage
			if err := s.write(ctx, action, params, &answer); err != nil {
				return err
			}
			var accepted struct {
				Job string `json:"JobId"`
			}
			if err := json.Unmarshal(answer, &accepted); err != nil {
				return fault.New(fault.Ambiguous, "the answer to %s is not JSON: %v", action, err)
			}
			job = accepted.Job
			if out != nil {
				_ = json.Unmarshal(answer, out) // it is JSON
			}
			return nil
		},
		func(refusal error) error {
			if !fault.Is(refusal, fault.Pending) {
				return refusal
			}
			if strings.HasPrefix(lock, netPrefix) {
				if _, err := s.active.Wait(ctx, lock); err != nil {
					return refusal
				}
				s.takeNet(lock)
			}
			return nil
		},
		func() error {
			if action == actDeleteNet || action == actDeleteServerGroup {
				return s.finishDeletion(ctx, job, lock)
			}
			return s.finishJob(ctx, job)
		})
}

// certificatesAtOnce is how many additional certificates one call takes.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2/listeners.go.
const certificatesAtOnce = 15

// idsParams returns parameters with a list.
func idsParams(param string, ids []string, pairs ...string) url.Values {
	out := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	for i, id := range ids {
		out.Set(param+"."+strconv.Itoa(i+1), id)
	}
	return out
}
