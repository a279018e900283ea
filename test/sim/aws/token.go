package aws

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type callerXML struct {
	Account string
	ARN     string `xml:"Arn"`
	UserID  string `xml:"UserId"`
}

type credentialsXML struct {
	Key     string `xml:"AccessKeyId"`
	Secret  string `xml:"SecretAccessKey"`
	Token   string `xml:"SessionToken"`
	Expires string `xml:"Expiration"`
}

type roleXML struct {
	ID  string `xml:"AssumedRoleId"`
	ARN string `xml:"Arn"`
}

// webIdentity is the only call without a signature: its proof is a token.
const webIdentity = "AssumeRoleWithWebIdentity"

// tokenService is as much of STS as a client with a role needs. It gives the
// same worthless credentials to everyone, because no signature is verified.
func tokenService(opt Options) *query.Service {
	return &query.Service{
		Name: "sts", Version: "2011-06-15", Namespace: "https://sts.amazonaws.com/doc/2011-06-15/", Style: query.AWSQuery,
		Ops: map[string]query.Op{
			"GetCallerIdentity": func(*query.Request) (any, error) {
				return callerXML{opt.Account, "arn:aws:iam::" + opt.Account + ":user/simulator", "AIDASIMULATORSIMULATO"}, nil
			},
			"AssumeRole":      assumeRole,
			webIdentity:       assumeRoleWithWebIdentity,
			"GetSessionToken": getSessionToken,
		},
	}
}

// rolePattern is the form of a role's ARN.
// Source: localstack/localstack:tests/aws/services/sts/test_sts.snapshot.json, recorded from AWS.
var rolePattern = regexp.MustCompile(`^arn:[^:]+:iam::\d{12}:role/.+$`)

// sessionInput is the members that both ways to assume a role have in common. Source: service
// model, and for the name localstack/localstack:tests/aws/services/sts/test_sts.snapshot.json.
type sessionInput struct {
	Role     string `xml:"RoleArn" required:"true" length:"20..2048"`
	Name     string `xml:"RoleSessionName" required:"true" length:"2..64" pattern:"^[\\w+=,.@-]*$"`
	Duration int    `xml:"DurationSeconds" range:"900..43200"`
}

// newSession makes a session of a role.
func newSession(r *query.Request, in sessionInput) (roleXML, credentialsXML, error) {
	role, name := in.Role, in.Name
	if !rolePattern.MatchString(role) {
		return roleXML{}, credentialsXML{}, query.Errorf("ValidationError", "%s is invalid", role)
	}
	// The session is of STS, and a path in the role's name is not part of it.
	head, path, _ := strings.Cut(role, ":role/")
	assumed := strings.Replace(head, ":iam:", ":sts:", 1) + ":assumed-role/" + path[strings.LastIndex(path, "/")+1:] + "/" + name
	return roleXML{"AROASIMULATORSIMULATO:" + name, assumed}, temporaryCredentials(r.Now, cmp.Or(in.Duration, 3600)), nil
}

func temporaryCredentials(now time.Time, seconds int) credentialsXML {
	return credentialsXML{"ASIASIMULATORSIMULATO", "secret", "token", now.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)}
}

func assumeRole(r *query.Request) (any, error) {
	var in sessionInput
	if err := query.Decode(r.Params, &in); err != nil {
		return nil, err
	}
	role, keys, err := newSession(r, in)
	return struct {
		Role        roleXML `xml:"AssumedRoleUser"`
		Credentials credentialsXML
	}{role, keys}, err
}

// assumeRoleWithWebIdentity takes any token, as a Pod's service account has one.
func assumeRoleWithWebIdentity(r *query.Request) (any, error) {
	var in struct {
		WebIdentityToken string `required:"true"`
		sessionInput
	}
	if err := query.Decode(r.Params, &in); err != nil {
		return nil, err
	}
	role, keys, err := newSession(r, in.sessionInput)
	return struct {
		Role        roleXML `xml:"AssumedRoleUser"`
		Credentials credentialsXML
		Subject     string `xml:"SubjectFromWebIdentityToken"`
		Audience    string
		Provider    string
	}{role, keys, "system:serviceaccount:kube-system:simulator", "sts.amazonaws.com", "arn:aws:iam::000000000000:oidc-provider/simulator"}, err
}

func getSessionToken(r *query.Request) (any, error) {
	var in struct {
		DurationSeconds int `range:"900..129600"` // source: service model
	}
	if err := query.Decode(r.Params, &in); err != nil {
		return nil, err
	}
	return struct{ Credentials credentialsXML }{temporaryCredentials(r.Now, cmp.Or(in.DurationSeconds, 12*3600))}, nil
}
