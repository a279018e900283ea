package kit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// Tokens gives creating calls their idempotency tokens. A cloud executes the calls of one token
// once. The token follows from the owner, the step and the body, and stays the same until the
// call is answered. So a call whose answer was lost can be repeated, also by the next process.
// After an answer the token changes, because a resource that was deleted meanwhile has to be
// created again.
type Tokens struct {
	now  func() time.Time
	age  time.Duration
	used func(error) bool

	mu       sync.Mutex
	answered map[string]spent
}

// spent records how many tokens of a call were answered.
type spent struct {
	times int
	last  time.Time
}

// maxUsed is how often a call is repeated because its token was used up by a previous process.
const maxUsed = 5

// NewTokens returns tokens for a cloud that knows a token for the given age. used reports
// whether a refusal says that the token was used for a resource that was deleted since.
func NewTokens(age time.Duration, now func() time.Time, used func(error) bool) *Tokens {
	return &Tokens{now: now, age: age, used: used, answered: map[string]spent{}}
}

// Send calls send with the token of a step and returns its error, a fault. A refusal is an
// answer. After one that the token is used up the call is sent with the next token. A call
// without an answer keeps its token.
func (t *Tokens) Send(owner stack.Owner, step string, body []byte, send func(token string) error) error {
	sum := sha256.Sum256([]byte(strings.Join([]string{owner.UID, owner.String(), step, string(body)}, "\x00")))
	key := hex.EncodeToString(sum[:])
	err := send(t.token(key))
	for try := 0; err != nil && t.used(err) && try < maxUsed; try++ {
		t.retire(key)
		err = send(t.token(key))
	}
	if !fault.Is(err, fault.Ambiguous) && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Throttled) {
		t.retire(key)
	}
	return err
}

// token returns the present token of a call: 32 characters of hexadecimal.
func (t *Tokens) token(key string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(t.answered[key].times)))
	return hex.EncodeToString(sum[:16])
}

// retire has the next call use another token, and drops what the cloud does not remember.
func (t *Tokens) retire(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for other, s := range t.answered {
		if now.Sub(s.last) > t.age {
			delete(t.answered, other)
		}
	}
	t.answered[key] = spent{t.answered[key].times + 1, now}
}
