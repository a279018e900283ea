package aws

import (
	"regexp"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type callerXML struct {
	Account string `xml:"Account"`
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
		Writes: func(string) bool { return false },
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

// sessionPattern and rolePattern are the forms of both names of a session.
// Source: service model; localstack/localstack:tests/aws/services/sts/test_sts.snapshot.json, recorded from AWS.
var (
	sessionPattern = regexp.MustCompile(`^[\w+=,.@-]*$`)
	rolePattern    = regexp.MustCompile(`^arn:[^:]+:iam::\d{12}:role/.+$`)
)

// shortest and longest are how many seconds a session of a role can last; source: service model.
const shortest, longest = 900, 43200

// newSession reads what both ways to assume a role have in common.
func newSession(r *query.Request, required ...string) (roleXML, credentialsXML, error) {
	in := lbkit.Read(r.Params)
	in.Required(required...)
	role := in.Need("RoleArn", lbkit.Length(20, 2048))
	name := in.Need("RoleSessionName", lbkit.Length(2, 64), lbkit.Matches(sessionPattern))
	lasts := in.Number("DurationSeconds", shortest, longest)
	if err := in.Err(); err != nil {
		return roleXML{}, credentialsXML{}, err
	}
	if !rolePattern.MatchString(role) {
		return roleXML{}, credentialsXML{}, query.Errorf("ValidationError", "%s is invalid", role)
	}
	duration := time.Hour
	if lasts != nil {
		duration = time.Duration(*lasts) * time.Second
	}
	// The session is of STS, and a path in the role's name is not part of it.
	head, path, _ := strings.Cut(role, ":role/")
	assumed := strings.Replace(head, ":iam:", ":sts:", 1) + ":assumed-role/" + path[strings.LastIndex(path, "/")+1:] + "/" + name
	return roleXML{"AROASIMULATORSIMULATO:" + name, assumed}, temporaryCredentials(r.Now, duration), nil
}

func temporaryCredentials(now time.Time, lasts time.Duration) credentialsXML {
	return credentialsXML{"ASIASIMULATORSIMULATO", "secret", "token", now.Add(lasts).Format(time.RFC3339)}
}

func assumeRole(r *query.Request) (any, error) {
	role, keys, err := newSession(r)
	return struct {
		Role        roleXML        `xml:"AssumedRoleUser"`
		Credentials credentialsXML `xml:"Credentials"`
	}{role, keys}, err
}

// assumeRoleWithWebIdentity takes any token, as a Pod's service account has one.
func assumeRoleWithWebIdentity(r *query.Request) (any, error) {
	role, keys, err := newSession(r, "WebIdentityToken")
	return struct {
		Role        roleXML        `xml:"AssumedRoleUser"`
		Credentials credentialsXML `xml:"Credentials"`
		Subject     string         `xml:"SubjectFromWebIdentityToken"`
		Audience    string         `xml:"Audience"`
		Provider    string         `xml:"Provider"`
	}{role, keys, "system:serviceaccount:kube-system:simulator", "sts.amazonaws.com", "arn:aws:iam::000000000000:oidc-provider/simulator"}, err
}

func getSessionToken(r *query.Request) (any, error) {
	in := lbkit.Read(r.Params)
	lasts := in.Number("DurationSeconds", shortest, 129600)
	if err := in.Err(); err != nil {
		return nil, err
	}
	duration := 12 * time.Hour
	if lasts != nil {
		duration = time.Duration(*lasts) * time.Second
	}
	return struct {
		Credentials credentialsXML `xml:"Credentials"`
	}{temporaryCredentials(r.Now, duration)}, nil
}
