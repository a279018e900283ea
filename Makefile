# Everything works offline after `go mod download` in . and in the nested
# modules. `make` alone lists the targets.

# What the programs call themselves: a tag, or v0.0.0 and the commit.
DESCRIBED := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
VERSION ?= $(if $(filter v%,$(DESCRIBED)),$(DESCRIBED),v0.0.0+$(DESCRIBED))
LDFLAGS := -X k8s.io/component-base/version.gitVersion=$(VERSION) -X main.version=$(VERSION) -X main.commit=$(COMMIT)

CONFORM := test/conform/alibaba test/conform/aws test/conform/azure test/conform/baidu test/conform/gce test/conform/ibm test/conform/openstack test/conform/tencent
NESTED := docs/site test/argocd test/alerts test/page test/controlplane test/tools test/helm $(CONFORM) test/conform/azure/official test/conform/openstack/official test/conform/alibaba/sdk test/conform/tencent/sdk
PLANE := go -C test/controlplane run ./cmd/controlplane
# Fetches the modules of what the demo compiles while it compiles, instead of in between.
FETCH := { go list -deps ./cmd/... ./test/sim/cmd/...; go -C test/controlplane list -deps go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver; } >/dev/null 2>&1
LINT := go tool -modfile=test/tools/go.mod golangci-lint
FUZZTIME ?= 30s
ENGINE ?= $(firstword $(foreach e,podman docker buildah,$(shell command -v $(e))))
IMAGE ?= berth:$(subst +,-,$(VERSION))
CLOUD ?= aws
export CLOUD

# atonce runs a command for every m of a list at the same time, prints what each
# said, one after the other, and fails if one has failed.
# $(call atonce,name of the logs,list,command)
define atonce
@for m in $(2); do \
	{ $(3) >bin/$(1)-$$(echo $$m | tr / -).log 2>&1; echo $$? >bin/$(1)-$$(echo $$m | tr / -).status; } & \
done; wait; failed=0; \
for m in $(2); do \
	n=bin/$(1)-$$(echo $$m | tr / -); cat $$n.log; [ "$$(cat $$n.status)" = 0 ] || failed=1; \
done; exit $$failed
endef

# So do those of conformance. What interrupts a controller over and over takes longest, and has
# a process and a cluster of its own for each cloud. More would not end earlier: two processors
# are busy with eight clusters. The parts: a cloud, what of it is run (empty: all), and what is
# not. Alibaba Cloud, Baidu AI Cloud, IBM Cloud and Tencent Cloud have models alone, which need no cluster.
PARTS := $(foreach c,aws azure gce openstack,$c@TestConform/half@ $c@@TestConform/half) alibaba@@ baidu@@ ibm@@ tencent@@
field = $$(echo $$m | cut -d@ -f$(1))

.DEFAULT_GOAL := help
.PHONY: help build demo demos test test-cloud units waits ends conform oracle race bench mutants suites golden lint docs site pictures verify fuzz explore sim image release clean

help: ## list the targets
	@awk -F ' ## ' '/^[a-z-]+:.* ## / { sub(/:.*/, "", $$1); printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile the controller, berth and the simulator into bin/
	go build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/... ./test/sim/cmd/...

demo: ## show the main job: Services to load balancers in a simulated cloud (CLOUD=aws, KEEP=1 leaves it running)
	@echo "compiling the demo, berth and the simulator; on a new machine that takes three to four minutes, since the clouds' libraries are compiled for them and for all that follows"
	@$(FETCH) & go build -ldflags=-w -o bin/ ./test/demo ./cmd/berth ./test/sim/cmd/cloudsim
	@bin/demo

demos: # the demo of every cloud, all at once
	@mkdir -p bin
	$(call atonce,demo,alibaba aws azure baidu gce ibm oci openstack tencent,CLOUD=$$m go run ./test/demo)

# The end-to-end tests mostly wait, and each has the Nodes of its cluster for itself.
# So they run as six processes, with a cluster each, by the first letter of their
# names; the last one has whatever the others do not, so that none is left out.
E2E := A-C D-G H-N O-P Q-R ^A-R

# These run when the others have ended: one keeps API server and machine as busy as it can, and
# one stops processes between a look at the Lease and the write, which a busy machine keeps apart.
ALONE := ^Test(Pauses|Tenants)$$

test: ## the whole test suite, end to end included, against a real API server
	$(PLANE) build
	go build ./...
	$(MAKE) -k -j2 units waits

test-cloud: ## the tests of one cloud and its simulator (CLOUD=openstack)
	go test $(if $(filter quay,$(CLOUD)),./test/quay/model ./test/quay/...,./providers/$(CLOUD)/model ./providers/$(CLOUD)/...) ./test/sim/$(CLOUD)/...

# What comes behind the tests end to end, one after the other: CI has its other parts here.
BEHIND ?=

waits: # the tests end to end and what comes behind them; says how long each took
	@failed=0; for part in ends $(BEHIND); do \
		began=$$(date +%s); result=ok; \
		$(MAKE) --no-print-directory $$part || { failed=1; result=FAILED; }; \
		echo "part $$part: $$(($$(date +%s) - began))s $$result"; \
	done; exit $$failed

# Most tests compute and wait for nothing; those end to end, and of conformance, wait for
# processes. So they run at the same time, and what computes gives way. Nor does it look for
# memory to free before there are two gigabytes of it, or ten times as much as is in use,
# which saves a fifth of its time.
units: export GOGC := 1000
units: export GOMEMLIMIT := 2GiB
units: # the tests of all packages but those end to end, and of the nested modules
	nice -n 10 go test -parallel 16 -timeout 60m $$(go list ./... | grep -v '/test/e2e$$')
	for m in $(filter-out test/conform/%,$(NESTED)); do nice -n 10 go -C $$m test -timeout 60m ./... || exit 1; done

ends: # the tests end to end; what they need is compiled once, not by each process
	@mkdir -p bin
	@go list -deps -test -export ./test/e2e >/dev/null
	$(call atonce,e2e,$(E2E),go test -parallel 16 -timeout 60m ./test/e2e -run "^Test[$$m]" -skip '$(ALONE)')
	go test -timeout 60m ./test/e2e -run '$(ALONE)'

conform: ## the official controllers build in the simulated clouds, all clouds at once, Berth takes over, and back; prints tables
	$(PLANE) build
	@mkdir -p bin
	@echo "compiling the tests of conformance, each module once: processes that need the same at the same time would each compile it"
	@for m in $(CONFORM); do go -C $$m list -deps -test -export ./... >/dev/null || exit 1; done
	$(call atonce,conform,$(PARTS),go -C test/conform/$(call field,1) test -count=1 -timeout 60m -v -run "$(call field,2)" -skip "$(call field,3)" ./...)

oracle: ## the simulated OpenStack answers as a real one does, and Berth walks on the real one; says so where there are no Debian packages for that
	go run ./test/oracle

race: ## the tests of the product with the race detector
	go test -race -timeout 40m $$(go list ./... | grep -v -e /test/e2e -e /test/demo -e /test/bench -e /test/scale -e /test/oracle)

bench: ## CPU and memory of a plan by ports x ranges, time of a review by the webhook, cloud calls per Service, time under the documented rates, what clouds add to the program, and memory and CPU in a large cluster; writes bin/{bench,limits,size,scale}.json
	go test ./providers/... -run '^$$' -bench '^Benchmark(Sizes|Refused)$$'
	go test ./service/validate -run '^$$' -bench '^BenchmarkReview$$'
	go test ./providers/openstack -count=1 -v -run '^Test(Calls|Hundred)'
	go run ./test/bench
	go run ./test/scale
	go -C test/conform/openstack test -count=1 -timeout 30m -v -run TestCalls -calls 1,10,100

mutants: ## small faults in the product, one at a time: the tests must find each (ONLY=regular expression, FIND=1 searches for tests)
	go run ./test/mutants -only '$(ONLY)' $(if $(FIND),-find)

golden: ## rewrite all golden files with what the tests got; read the diff before you commit it
	go test $$(grep -rl --include='*_test.go' '"github.com/berth-lb/berth/test/\(golden\|cases\)"' . | xargs -n 1 dirname | sort -u) -update

# As in units, so that the table tells the cost of make test.
suites: export GOGC := 1000
suites: export GOMEMLIMIT := 2GiB
suites: ## the processor time of the tests of each package, into the table of docs/testing.md (ONLY=regular expression of packages)
	go run ./test/suites -only '$(ONLY)'

lint: ## the linters of .golangci.yml, and the rules that none of them checks: who imports whom, sizes, purity
	go test -count=1 ./test/arch
	$(LINT) run ./...

docs: ## write the generated pages anew, what is made from the chart, and the bundled files of the page
	go test -count=1 ./test/docs -run Page -update
	go -C test/helm test -count=1 -run Generated . -update
	go -C test/page run ./cmd/bundle ../../service/page/web ../../service/page/dist

site: ## the documentation as a site in bin/site/public, with a page for each code and reason; its links are checked
	go run ./test/site/cmd/sitepages -out bin/site/content
	go -C docs/site tool hugo --quiet --noBuildLock --cleanDestinationDir --panicOnWarning --destination ../../bin/site/public
	go run ./test/site/cmd/sitepages -built bin/site/public

pictures: ## write the pictures of the documentation from the tests of the page, which need Chromium
	go -C test/page test -count=1 -run TestPictures . -pictures

verify: docs lint ## what must be true before a commit: generated files, formats, linters, rules
	git diff --exit-code HEAD -- docs/reference docs/security.md charts service/page/dist
	go test -run TestPermissions ./providers/...
	go test -count=1 ./test/docs
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not formatted: $$unformatted" >&2; exit 1; }
	for m in . $(NESTED); do go -C $$m vet ./... && go -C $$m mod tidy -diff || exit 1; done

fuzz: ## every fuzz test for FUZZTIME (30s)
	@grep -ro --include='*_test.go' '^func Fuzz[A-Za-z]*' . | sed 's|/[^/]*:func | |' | while read -r dir name; do \
		go test $$dir -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) || exit 1; done

explore: ## schedules of several Services, processes and faults in virtual time (N=10000 for each kind of cloud, SEED=1); tells each failing one as a story
	EXPLORE_N=$(or $(N),10000) EXPLORE_SEED=$(or $(SEED),1) go test -count=1 -timeout 5h -v ./test/explore -run TestSchedules

sim: ## a simulated cloud standing alone, for trying things out by hand (CLOUD=aws)
	go run ./test/sim/cmd/cloudsim --cloud $(CLOUD) --listen 127.0.0.1:4566 --out bin/sim

image: ## the controller's image, with the first of podman, docker and buildah that is there (ENGINE=, IMAGE=)
	@test -n "$(ENGINE)" || { echo "make image needs a container engine: podman, docker or buildah (ENGINE=path)" >&2; exit 1; }
	$(ENGINE) build -f Containerfile --build-arg LDFLAGS='$(LDFLAGS)' -t $(IMAGE) .

release: ## programs for every platform, their SBOMs, the chart and checksums in bin/release; the same bytes every time
	go run ./test/release -version '$(VERSION)' -ldflags '$(LDFLAGS)' -epoch "$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}"

clean: ## remove what was built; the control plane stays in the user's cache
	rm -rf bin
