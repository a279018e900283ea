package aws

import (
	"time"

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
			"AssumeRole": func(r *query.Request) (any, error) {
				for _, name := range []string{"RoleArn", "RoleSessionName"} {
					if r.Str(name) == "" {
						return nil, query.Errorf("ValidationError", "1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null", name)
					}
				}
				return struct {
					Role        roleXML        `xml:"AssumedRoleUser"`
					Credentials credentialsXML `xml:"Credentials"`
				}{
					roleXML{"AROASIMULATORSIMULATO:" + r.Str("RoleSessionName"), r.Str("RoleArn") + "/" + r.Str("RoleSessionName")},
					credentialsXML{"ASIASIMULATORSIMULATO", "secret", "token", r.Now.Add(time.Hour).Format(time.RFC3339)},
				}, nil
			},
		},
	}
}
