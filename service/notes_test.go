package service

import (
	"errors"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

func addKey(key string) func(map[string]string) map[string]string {
	return func(m map[string]string) map[string]string {
		out := map[string]string{key: "yes"}
		maps.Copy(out, m)
		return out
	}
}

// TestNotes: a note is made, owned by its Service, changed, and written only if it changes.
func TestNotes(t *testing.T) {
	client := fake.NewClientset()
	n := NewNotes(client)
	of := stack.Owner{Namespace: "shop", Name: "web", UID: "u-1"}
	if note, err := n.Read(t.Context(), "shop", "mine"); note != nil || err != nil {
		t.Errorf("a note that is not there is %v, %v", note, err)
	}
	for _, key := range []string{"a", "b", "b"} {
		if err := n.Change(t.Context(), of, "mine", addKey(key)); err != nil {
			t.Fatal(err)
		}
	}
	if note, err := n.Read(t.Context(), "shop", "mine"); err != nil || len(note) != 2 {
		t.Errorf("the note is %v, %v", note, err)
	}
	found, err := client.CoreV1().ConfigMaps("shop").Get(t.Context(), "mine", metav1.GetOptions{})
	if err != nil || len(found.OwnerReferences) != 1 || found.OwnerReferences[0].UID != "u-1" || found.OwnerReferences[0].Kind != "Service" {
		t.Errorf("owners are %+v, %v", found.OwnerReferences, err)
	}
	writes := 0
	for _, a := range client.Actions() {
		if a.GetVerb() != "get" {
			writes++
		}
	}
	if writes != 2 {
		t.Errorf("%d writes, want 2", writes)
	}
}

// TestNotesOfTwo: a concurrent write of another client is kept.
func TestNotesOfTwo(t *testing.T) {
	client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mine"}})
	between := true
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !between {
			return false, nil, nil
		}
		between = false
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mine"}, Data: map[string]string{"other": "yes"}}
		if err := client.Tracker().Update(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, other, "shop"); err != nil {
			return true, nil, err
		}
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "mine", errors.New("changed"))
	})
	n := NewNotes(client)
	if err := n.Change(t.Context(), stack.Owner{Namespace: "shop", Name: "web", UID: "u-1"}, "mine", addKey("a")); err != nil {
		t.Fatal(err)
	}
	if note, _ := n.Read(t.Context(), "shop", "mine"); note["a"] != "yes" || note["other"] != "yes" {
		t.Errorf("the note is %v", note)
	}
}

// TestNotesForbidden: a refused write of notes is reported with the missing right.
func TestNotesForbidden(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "mine", errors.New("no"))
	})
	_, err := NewNotes(client).Read(t.Context(), "shop", "mine")
	if !fault.Is(err, fault.Denied) {
		t.Errorf("got %v, want a fault that says Denied", err)
	}
}
