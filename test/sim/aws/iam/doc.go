// Package iam decides by an identity's policy whether a request is allowed: actions
// and resources with wildcards, and conditions on tags and other keys. Start with
// Policy.Allows.
//
// Source: IAM user guide, policy evaluation logic and condition operators.
package iam
