package page

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/status"
)

// writePictures makes the test write the pictures of the documentation: `make pictures`.
var writePictures = flag.Bool("pictures", false, "write docs/pictures")

// The size of each picture, and the limit of its file.
const (
	pictureWidth  = 1280
	pictureHeight = 800
	mostPicture   = 150 << 10
)

const pictures = "../../docs/pictures"

// TestPictures shows each view of the pictures in the documentation, and compares name and size of the
// pictures. Their bytes depend on the fonts of the machine.
func TestPictures(t *testing.T) {
	b := startBrowser(t)
	a := startAWS(t)
	b.theme(t, "light")
	if _, err := chromedp.Run(b.ctx, chromedp.EmulateViewport(pictureWidth, pictureHeight)); err != nil {
		t.Fatal(err)
	}
	setStatus(a)
	fleet, service := servePage(t, values{shownServices()}), servePage(t, a.source(t))
	for _, p := range []struct{ name, url, view, ready string }{
		{"services", fleet, "services", `document.querySelectorAll('.fleet tbody tr').length === 9`},
		{"takeover", fleet, "takeover", `document.querySelectorAll('.heap').length === 5`},
		{"service", service, "services/shop/web", `document.querySelector('g.node') !== null`},
	} {
		b.open(t, p.url, p.view)
		b.wait(t, p.ready)
		shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, filepath.Join(pictures, p.name+".png"), shot)
	}
}

// setStatus sets what the controller writes to the Service after its run.
func setStatus(a running) {
	a.service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "web-4f1c.elb.eu-west-1.amazonaws.com"}}
	a.service.Status.Conditions = []metav1.Condition{
		{Type: status.TypeAccepted, Status: metav1.ConditionTrue, Reason: string(status.ReasonAccepted), Message: "as nlb"},
		{Type: status.TypeProgrammed, Status: metav1.ConditionTrue, Reason: string(status.ReasonProgrammed), Message: "80/TCP and 443/TCP are served"},
	}
}

// checkPicture compares the size of a picture with the one in a file, or writes it.
func checkPicture(t *testing.T, file string, shot []byte) {
	t.Helper()
	if *writePictures {
		if err := os.WriteFile(file, shot, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run make pictures", err)
	}
	got, err := png.DecodeConfig(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.DecodeConfig(bytes.NewReader(kept))
	if err != nil || got.Width != want.Width || got.Height != want.Height || len(kept) > mostPicture {
		t.Errorf("%s: %d x %d pixels in %d bytes, %v: run make pictures for %d x %d in at most %d bytes", file, want.Width, want.Height, len(kept), err, got.Width, got.Height, mostPicture)
	}
}

// shownServices are Services of two teams in all states.
func shownServices() []view.Service {
	var out []view.Service
	for _, name := range []string{"api", "cart", "checkout", "search", "web"} {
		s := newService("shop", name)
		s.Addresses, s.Message = []string{name + "-4f1c.elb.eu-west-1.amazonaws.com"}, "80/TCP is served"
		out = append(out, s)
	}
	refused, differs, alone, waits := newService("team-a", "grpc"), newService("team-a", "metrics"), newService("team-b", "legacy"), newService("team-b", "stream")
	refused.Health, refused.Impact, refused.Addresses = status.Degraded, view.Refused, nil
	refused.Message = `service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval: "3" is below 5; legal is a whole number of seconds from 5 to 300`
	refused.Conditions = []metav1.Condition{{Type: status.TypeAccepted, Status: metav1.ConditionFalse, Reason: string(status.ReasonInvalidAnnotation)}}
	differs.Impact, differs.Addresses = view.Updates, []string{"internal-9d02.elb.eu-west-1.amazonaws.com"}
	differs.Decide(view.Differs, "the cloud differs by 1 step")
	differs.Message = "the cloud differs by 1 step"
	alone.Impact, alone.Kind, alone.Class = view.Alone, "", "service.k8s.aws/nlb"
	alone.Decide(view.LeftAlone, "the class selects another controller")
	alone.Message = "left alone: the class selects another controller"
	waits.Health, waits.Impact, waits.Addresses = status.Progressing, view.Creates, nil
	waits.Message = "the load balancer is provisioned"
	return append(out, refused, differs, alone, waits)
}
