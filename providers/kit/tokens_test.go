package kit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// TestTokens: a token follows from owner, step and body, stays until an answer, and is the same
// in the next process.
func TestTokens(t *testing.T) {
	now := time.Unix(1e9, 0)
	process := func() *kit.Tokens { return kit.NewTokens(24*time.Hour, func() time.Time { return now }, isUsed) }
	tokens, lost := process(), fault.New(fault.Ambiguous, "no answer")
	owner := stack.Owner{Namespace: "shop", Name: "web", UID: "1"}
	send := func(from *kit.Tokens, o stack.Owner, step, body string, answer error) (token string) {
		err := from.Send(o, step, []byte(body), func(given string) error { token = given; return answer })
		if err != answer {
			t.Errorf("%v is returned for %v", err, answer)
		}
		return token
	}
	first := send(tokens, owner, "create balancer", "{}", lost)
	if len(first) != 32 {
		t.Errorf("the token %q has %d characters", first, len(first))
	}
	for name, other := range map[string]string{
		"owner": send(tokens, stack.Owner{Namespace: "shop", Name: "web", UID: "2"}, "create balancer", "{}", lost),
		"step":  send(tokens, owner, "create listener", "{}", lost),
		"body":  send(tokens, owner, "create balancer", `{"a":1}`, lost),
	} {
		if other == first {
			t.Errorf("another %s has the same token", name)
		}
	}
	for _, unanswered := range []error{lost, fault.New(fault.Unavailable, "down"), fault.New(fault.Throttled, "slow down")} {
		if again := send(tokens, owner, "create balancer", "{}", unanswered); again != first {
			t.Errorf("%v changes the token", unanswered)
		}
	}
	if next := send(process(), owner, "create balancer", "{}", lost); next != first {
		t.Error("the next process has another token")
	}
	for _, answer := range []error{nil, fault.New(fault.Conflict, "changed since"), fault.New(fault.Quota, "no more")} {
		before := send(tokens, owner, "create balancer", "{}", answer)
		if after := send(tokens, owner, "create balancer", "{}", lost); after == before {
			t.Errorf("after the answer %v the token is the same", answer)
		}
	}
	// What the cloud does not remember any more needs no other token.
	now = now.Add(25 * time.Hour)
	send(tokens, owner, "create listener", "{}", nil)
	if later := send(tokens, owner, "create balancer", "{}", lost); later != first {
		t.Error("an answer is remembered for longer than the token")
	}
}

// usedUp is the refusal of a token that was used for a resource which was deleted since.
const usedUp = "TokenUsed"

func isUsed(err error) bool {
	f, is := errors.AsType[*fault.Fault](err)
	return is && f.Code == usedUp
}

// TestTokensUsed: a process that begins with the tokens of a previous one sends the call with
// the next token, and gives up in the end.
func TestTokensUsed(t *testing.T) {
	refusal := &fault.Fault{Meaning: fault.Conflict, Code: usedUp}
	for _, used := range []int{0, 1, 3, 100} {
		tokens, seen := kit.NewTokens(time.Hour, time.Now, isUsed), map[string]bool{}
		err := tokens.Send(stack.Owner{UID: "1"}, "create", nil, func(token string) error {
			if seen[token] = true; len(seen) <= used {
				return refusal
			}
			return nil
		})
		if want := used > 5; (err != nil) != want || len(seen) != min(used+1, 6) {
			t.Errorf("%d used up: %d tokens, %v", used, len(seen), err)
		}
	}
}
