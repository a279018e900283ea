package doctor

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/berth-lb/berth/providers"
)

// oldestServer is the oldest supported API server; docs/reference/compatibility.md has it too.
const oldestServer = "1.31.0"

func checkVersion(c Cluster) []providers.Diagnosis {
	found, err := version.ParseGeneric(c.Server)
	if err != nil {
		return []providers.Diagnosis{newWarning("API server", "its version is "+strconv.Quote(c.Server), "that is no version")}
	}
	if found.LessThan(version.MustParseGeneric(oldestServer)) {
		return []providers.Diagnosis{newFault("API server", "its version is "+c.Server, "the oldest supported version is %s", oldestServer)}
	}
	return []providers.Diagnosis{newFine("API server", "its version is "+c.Server)}
}

func checkRelease(c Cluster) []providers.Diagnosis {
	w, ok := c.ours()
	if !ok {
		return []providers.Diagnosis{providers.Unchecked(CodeRelease, "release", "no release was named", "Name the release: --release NAME.")}
	}
	chart, tag := w.Labels[labelVersion], ""
	if len(w.Pod.Containers) > 0 {
		image := path.Base(w.Pod.Containers[0].Image)
		if _, text, found := strings.Cut(image, ":"); found && !strings.Contains(image, "@") {
			tag = text
		}
	}
	state := "chart " + orUnknown(chart) + ", controller " + orUnknown(tag) + ", berth " + orUnknown(c.Program)
	// A build without a tag has no version that could be compared.
	var versions []string
	for _, v := range []string{chart, tag, c.Program} {
		if v = strings.TrimPrefix(strings.ReplaceAll(v, "+", "_"), "v"); v != "" && !strings.HasPrefix(v, "0.0.0") && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	if len(versions) > 1 {
		return []providers.Diagnosis{newWarning(w.String(), state, "they are not of one version")}
	}
	return []providers.Diagnosis{newFine(w.String(), state)}
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// leaseDuration is the one of Kubernetes' leader election.
const leaseDuration = 15 * time.Second

func checkRunning(c Cluster) []providers.Diagnosis {
	var out []providers.Diagnosis
	if w, ok := c.ours(); ok && w.Available == 0 && w.Wanted > 0 {
		out = append(out, newFault(w.String(), "no pod is available", "%d of %d replicas are ready", w.Available, w.Wanted))
	} else if ok && w.Wanted == 0 {
		out = append(out, newFault(w.String(), "it is scaled to no replicas", "spec.replicas is 0"))
	}
	about := "Lease " + c.Controller.Lease
	switch l := c.Lease; {
	case l == nil:
		out = append(out, newWarning(about, "not found", "no controller has held it yet, or --lease names another one"))
	case l.Spec.RenewTime == nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "":
		out = append(out, newFault(about, "no process holds it", "the last holder has released it"))
	case c.Now.Sub(l.Spec.RenewTime.Time) > 2*leaseDuration:
		out = append(out, newFault(about, "last renewed at "+l.Spec.RenewTime.UTC().Format(time.RFC3339), "its holder %s has ended or cannot reach the API server", *l.Spec.HolderIdentity))
	default:
		out = append(out, newFine(about, "held by "+*l.Spec.HolderIdentity))
	}
	return out
}

// otherProgram is a program that serves Services of type LoadBalancer.
type otherProgram struct {
	program string // end of the name of its image or command
	class   string // that it serves; empty: Services without a class
	// served returns the class for its flags; false: it serves no Services. Nil: class.
	served func(Workload) (class string, serves bool)
}

// otherPrograms lists programs that serve Services. Sources: the documentation of each.
func otherPrograms() []otherProgram {
	flagged := func(flag, class string) func(Workload) (string, bool) {
		return func(w Workload) (string, bool) {
			if v, ok := w.flag(flag); ok {
				return v, true
			}
			return class, true
		}
	}
	return []otherProgram{
		{program: "cloud-controller-manager", served: stockService},
		{program: "acs/cloud-controller-manager", served: alibabaNetworks},
		{program: "aws-load-balancer-controller", served: flagged("load-balancer-class", "service.k8s.aws/nlb")},
		{program: "metallb/controller", served: flagged("lb-class", "")},
		{program: "kube-vip-cloud-provider", served: flagged("loadbalancerClassName", "")},
		{program: "klipper-lb", class: ""},
	}
}

// HiddenController is a controller that a managed cluster runs outside of the cluster, so that it has no workload.
type HiddenController struct {
	Settings string // ConfigMap in kube-system that it reads and writes its version to
	program  string
}

// HiddenControllers lists the ones that leave a mark. They serve Services without a class.
// Source: Tencent Cloud, "Service Controller" of TKE, ConfigMap tke-service-controller-config.
func HiddenControllers() []HiddenController {
	return []HiddenController{{"tke-service-controller-config", "the service controller of TKE"}}
}

// warnOfHidden reports hidden controllers that serve the same Services. Whether one still runs is not visible.
func (c Cluster) warnOfHidden() []providers.Diagnosis {
	var out []providers.Diagnosis
	for _, h := range HiddenControllers() {
		if slices.Contains(c.Settings, h.Settings) && c.servesClass("") {
			out = append(out, newWarning("ConfigMap kube-system/"+h.Settings, h.program+" serves "+classText(""), "so does the controller, and both write the same load balancers. The managed cluster hides the program"))
		}
	}
	return out
}

// stockService reports whether a cloud-controller-manager runs its service controller.
func stockService(w Workload) (string, bool) {
	list, set := w.flag("controllers")
	if !set {
		return "", true
	}
	serves := false
	for name := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(name) {
		case "*", "service", "service-lb-controller":
			serves = true
		case "-service", "-service-lb-controller":
			return "", false
		}
	}
	return "", serves
}

// alibabaNetworks reports whether the controller of Alibaba Cloud serves network load balancers, which it does unless
// its controllers are listed without them.
// Source: kubernetes/cloud-provider-alibaba-cloud, flag controllers.
func alibabaNetworks(w Workload) (string, bool) {
	list, set := w.flag("controllers")
	return "alibabacloud.com/nlb", !set || slices.Contains(strings.Split(list, ","), "nlb")
}

// imageSuffixes end the names of images of one architecture.
func imageSuffixes() []string { return []string{"-amd64", "-arm64"} }

// runs reports whether a container of the workload is the program.
func (r otherProgram) runs(w Workload) bool {
	for _, c := range w.Pod.Containers {
		image, _, _ := strings.Cut(c.Image, "@")
		if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
			image = image[:at]
		}
		for _, name := range imageSuffixes() {
			image = strings.TrimSuffix(image, name)
		}
		if strings.HasSuffix(image, r.program) || len(c.Command) > 0 && strings.HasSuffix(c.Command[0], r.program) {
			return true
		}
	}
	return false
}

func checkOthers(c Cluster) []providers.Diagnosis {
	var out []providers.Diagnosis
	for _, w := range c.Workloads {
		if w.isBerth() {
			out = append(out, c.compareInstallation(w)...)
			continue
		}
		for _, r := range otherPrograms() {
			if !r.runs(w) {
				continue
			}
			class, serves := r.class, true
			if r.served != nil {
				class, serves = r.served(w)
			}
			if serves && c.servesClass(class) {
				out = append(out, newFault(w.String(), "it serves "+classText(class), "so does the controller, and both write the same load balancers"))
			}
		}
	}
	out = append(out, c.warnOfHidden()...)
	for _, h := range c.Webhooks {
		if h.Release == "" && slices.Contains(h.Mutates, "services") {
			out = append(out, newWarning("webhook "+h.Name, "it changes new Services", "another program can set their class, so that the controller leaves them alone"))
		}
	}
	return out
}

// compareInstallation reports classes that another release of the chart serves as well.
func (c Cluster) compareInstallation(w Workload) []providers.Diagnosis {
	if w.Kind != "Deployment" || c.Release == "" || w.Labels[labelInstance] == c.Release {
		return nil
	}
	var common []string
	if v, set := w.flag("default-class"); c.DefaultClass && (!set || v != "false") {
		common = append(common, classText(""))
	}
	names, _ := w.flag("load-balancer-class")
	for name := range strings.SplitSeq(names, ",") {
		if name != "" && slices.Contains(c.Classes, name) {
			common = append(common, classText(name))
		}
	}
	if len(common) == 0 {
		return nil
	}
	return []providers.Diagnosis{newFault(w.String(), "it serves "+strings.Join(common, ", "), "so does the release %s, and both write the same load balancers", c.Release)}
}

func (c Cluster) servesClass(class string) bool {
	if class == "" {
		return c.DefaultClass
	}
	return slices.Contains(c.Classes, class)
}

func classText(class string) string {
	if class == "" {
		return "Services without a class"
	}
	return "the class " + class
}
