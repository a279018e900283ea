package compute

import _ "embed" // For the table below.

// membersText is what bodies may say, from the SDK; see arm.ReadMembers.
// members_test.go of the cloud writes it.
//
//go:embed members.txt
var membersText string
