package alibaba

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// What callers need for temporary credentials.
const (
	// RoleARN and ProviderARN are the role and the provider of tokens that STS knows.
	RoleARN     = "acs:ram::1234567890123456:role/berth"
	ProviderARN = "acs:ram::1234567890123456:oidc-provider/cluster"
	// AccountToken is a token of the ServiceAccount.
	AccountToken = "simulated.token.of-the-service-account"

	instanceRole  = "KubernetesMasterRole"
	metadataToken = "simulated-metadata-token"
	lifetime      = time.Hour
)

// issue creates temporary credentials.
func (c *Cloud) issue(s *state, now time.Time) rest.Object {
	id := s.id("STS.N")
	session := rest.Object{"id": id, "secret": "secret-of-" + id, "token": "token-of-" + id, "until": now.Add(lifetime).UTC().Format(time.RFC3339)}
	s.Put(sessions, session)
	return rest.Object{"AccessKeyId": id, "AccessKeySecret": session.Text("secret"), "SecurityToken": session.Text("token"), "Expiration": session.Text("until")}
}

// secretOf returns the secret of an access key, or a refusal.
func (v *visit) secretOf(id, token string) (string, error) {
	if id == accessKeyID {
		return accessKeySecret, nil
	}
	session, ok := v.cloud.Live.Get(sessions, id)
	if !ok {
		return "", rest.Refuse(http.StatusNotFound, "InvalidAccessKeyId.NotFound", "Specified access key is not found.")
	}
	until, _ := time.Parse(time.RFC3339, session.Text("until")) // it was written in this form
	switch {
	case token != session.Text("token"):
		return "", rest.Refuse(http.StatusBadRequest, "InvalidSecurityToken.MismatchWithAccessKey", "Specified SecurityToken mismatch with the AccessKey.")
	case !v.Time.Before(until):
		return "", rest.Refuse(http.StatusBadRequest, "InvalidSecurityToken.Expired", "Specified SecurityToken is expired.")
	}
	return session.Text("secret"), nil
}

// assumeRole answers temporary credentials for a token. Source: API of STS, AssumeRoleWithOIDC.
func assumeRole(v *visit) (any, error) {
	switch {
	case v.Body.Text("RoleArn") != RoleARN || v.Body.Text("OIDCProviderArn") != ProviderARN:
		return nil, rest.Refuse(http.StatusForbidden, "NoPermission", "You are not authorized to do this action.")
	case v.Body.Text("OIDCToken") != AccountToken:
		return nil, rest.Refuse(http.StatusBadRequest, "AuthenticationFail.OIDCToken.Invalid", "This JWT token is illegal.")
	}
	return answerDone(rest.Object{"Credentials": v.cloud.issue(v.State, v.Time)}), nil
}

// serveMetadata answers as the metadata server of an instance does, in its second version.
func (c *Cloud) serveMetadata(w http.ResponseWriter, r *http.Request) {
	const prefix = "/latest/meta-data/"
	path := strings.TrimPrefix(r.URL.Path, prefix)
	switch {
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token" && r.Header.Get("X-aliyun-ecs-metadata-token-ttl-seconds") != "":
		_, _ = w.Write([]byte(metadataToken)) // a lost answer is the caller's to notice
	case r.Header.Get("X-aliyun-ecs-metadata-token") != metadataToken:
		http.Error(w, "the token is missing", http.StatusForbidden)
	case path == "region-id":
		_, _ = w.Write([]byte(c.opt.Region))
	case path == "vpc-id":
		_, _ = w.Write([]byte(c.Seed.VPC))
	case path == "vswitch-id":
		_, _ = w.Write([]byte(c.Seed.VSwitches[1].ID))
	case path == "ram/security-credentials/":
		_, _ = w.Write([]byte(instanceRole))
	case path == "ram/security-credentials/"+instanceRole:
		var made rest.Object
		c.Locked(func() { made = c.issue(c.Live, c.Clock.Now()) })
		writeJSON(w, made.With(rest.Object{"Code": "Success"}))
	default:
		http.NotFound(w, r)
	}
}

// AccessKey returns the access key of the account.
func AccessKey() (id, secret string) { return accessKeyID, accessKeySecret }

// ExpireSessions ends all temporary credentials.
func (c *Cloud) ExpireSessions() {
	c.Locked(func() {
		for _, s := range c.Live.All(sessions, nil) {
			c.Live.Change(sessions, s.Text("id"), rest.Object{"until": c.Clock.Now().UTC().Format(time.RFC3339)})
		}
	})
}

func writeJSON(w http.ResponseWriter, o rest.Object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o) // a lost answer is the caller's to notice
}
