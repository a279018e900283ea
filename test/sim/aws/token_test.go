package aws_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	simaws "github.com/berth-lb/berth/test/sim/aws"
)

func TestSessionsOfRoles(t *testing.T) {
	client := sts.NewFromConfig(startClients(t, simaws.Options{}).Config)
	const role = "arn:aws:iam::123456789012:role/team/berth"
	out, err := client.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String(role), RoleSessionName: aws.String("me")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("arn:aws:sts::123456789012:assumed-role/berth/me", *out.AssumedRoleUser.Arn); diff != "" {
		t.Errorf("user (-want +got)\n%s", diff)
	}
	for name, in := range map[string]sts.AssumeRoleInput{
		"session with a colon": {RoleArn: aws.String(role), RoleSessionName: aws.String("me:2")},
		"no role":              {RoleArn: aws.String("nothing-valid-in-here"), RoleSessionName: aws.String("me")},
		"too long":             {RoleArn: aws.String(role), RoleSessionName: aws.String("me"), DurationSeconds: aws.Int32(43201)},
	} {
		if _, err := client.AssumeRole(t.Context(), &in); errorCode(err) != "ValidationError" {
			t.Errorf("%s: %v, want ValidationError", name, err)
		}
	}
	if _, err := client.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{}); err != nil {
		t.Errorf("session token: %v", err)
	}
}

// The call with a token is the only unsigned one.
func TestRoleOfAServiceAccount(t *testing.T) {
	config := startClients(t, simaws.Options{}).Config
	config.Credentials = aws.AnonymousCredentials{}
	client := sts.NewFromConfig(config)
	in := &sts.AssumeRoleWithWebIdentityInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/berth"), RoleSessionName: aws.String("me"), WebIdentityToken: aws.String("abcd")}
	out, err := client.AssumeRoleWithWebIdentity(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out.Credentials.Expiration == nil || *out.AssumedRoleUser.Arn != "arn:aws:sts::123456789012:assumed-role/berth/me" {
		t.Errorf("credentials until %v for %s", out.Credentials.Expiration, *out.AssumedRoleUser.Arn)
	}
	if _, err := client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); errorCode(err) != "MissingAuthenticationToken" {
		t.Errorf("caller without a signature: %v, want MissingAuthenticationToken", err)
	}
}
