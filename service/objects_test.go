package service

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// toyPort is the annotation that names the Secret in which the port of the toy cloud's
// load balancer stands.
const toyPort = "toy.example.com/port-from"

var secretsResource = corev1.SchemeGroupVersion.WithResource("secrets")

// nameSecret makes a Service name a Secret.
func nameSecret(name string) func(*corev1.Service) {
	return func(svc *corev1.Service) {
		if svc.Annotations == nil {
			svc.Annotations = map[string]string{}
		}
		svc.Annotations[toyPort] = name
	}
}

// secret writes a Secret with a port of one byte.
func (c *cluster) secret(name string, port byte) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, ResourceVersion: c.next()}, Data: map[string][]byte{"port": {port}}}
	if err := c.client.Tracker().Update(secretsResource, s, "shop"); apierrors.IsNotFound(err) {
		err = c.client.Tracker().Create(secretsResource, s, "shop")
		if err != nil {
			c.t.Error(err)
		}
	} else if err != nil {
		c.t.Error(err)
	}
}

// port is the port of a Service's load balancer; 0: there is none.
func (c *cluster) port(name string) int32 {
	c.t.Helper()
	uid := c.get(name).UID
	c.cloud.mu.Lock()
	defer c.cloud.mu.Unlock()
	return c.cloud.has[string(uid)].Port
}

// TestObjectsAreInputs: a Secret that a Service names is awaited, and its change is a
// change of that Service alone; by name, no other one is asked for, and none where no
// Service names one.
func TestObjectsAreInputs(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("plain", asItIs)
		advanceTime(time.Second)
		for _, a := range c.client.Actions() {
			if a.GetResource() == secretsResource {
				t.Fatalf("no Service names a Secret, and there is %s of them", a.GetVerb())
			}
		}
		c.secret("other", 99)
		c.put("web", nameSecret("tls"))
		advanceTime(time.Second)
		if got := c.port("web"); got != 0 {
			t.Fatalf("served at port %d without its Secret", got)
		}
		c.secret("tls", 44)
		advanceTime(time.Second)
		if got := c.port("web"); got != 44 {
			t.Fatalf("the Secret has come, and the port is %d", got)
		}
		before := c.cloud.count()
		c.secret("other", 98)
		advanceTime(time.Minute)
		if n := c.cloud.count() - before; n != 0 {
			t.Errorf("a Secret that no Service names was worth %d writes", n)
		}
		c.secret("tls", 45)
		advanceTime(time.Second)
		if got := c.port("web"); got != 45 {
			t.Errorf("the Secret has changed, and the port is %d", got)
		}
		if err := c.client.Tracker().Delete(secretsResource, "shop", "tls"); err != nil {
			t.Fatal(err)
		}
		advanceTime(time.Second)
		if got := c.port("web"); got != 45 {
			t.Errorf("the Secret is gone, and the port is %d: what serves must go on", got)
		}
		for _, a := range c.client.Actions() {
			if l, ok := a.(clienttesting.ListAction); ok && a.GetResource() == secretsResource {
				if name, exact := l.GetListRestrictions().Fields.RequiresExactMatch("metadata.name"); !exact || name != "tls" || a.GetNamespace() != "shop" {
					t.Errorf("Secrets of %q named %q were listed", a.GetNamespace(), name)
				}
			}
		}
	})
}

// TestObjectsThatMayNotBeRead: the missing right is reported to the user, and the Service
// is served once it is granted.
func TestObjectsThatMayNotBeRead(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		allowed := make(chan struct{})
		c.client.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
			select {
			case <-allowed:
				return false, nil, nil
			default:
				return true, nil, apierrors.NewForbidden(secretsResource.GroupResource(), "tls", nil)
			}
		})
		c.secret("tls", 44)
		c.put("web", nameSecret("tls"))
		advanceTime(time.Minute)
		if got := c.port("web"); got != 0 {
			t.Fatalf("served at port %d without its Secret", got)
		}
		close(allowed)
		advanceTime(5 * time.Minute)
		if got := c.port("web"); got != 44 {
			t.Errorf("the right is there, and the port is %d", got)
		}
	})
}
