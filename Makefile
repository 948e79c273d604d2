# make help lists the targets. STACK picks the stack file Pulumi.$(STACK).yaml.
STACK ?= dev
ifeq ($(strip $(STACK)),)
$(error STACK is empty: name a stack, as in make preview STACK=dev)
endif

# The commit that make diff compares with.
BASE ?= HEAD

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# STORY picks one of the tests of make chaos, as in make chaos STORY=Crash.
STORY ?=

# The shell reads them as they are, whatever is in them.
export STACK BASE STORY

# One set of flags, so that every build shares one cache with the engine's own.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath

# The stack file alone says which cluster is meant.
unexport KUBECONFIG

LOCAL := .local/bin/local
SHELLNUMBERS := .local/bin/shellnumbers
MODULES := . infra/local infra/local/modules/checks infra/e2e examples/platform-team
CHECKS := $(CURDIR)/infra/local/modules/checks/go.mod

# Lists the shell scripts that stand alone; those of HotKV are parts of one program.
SCRIPTS := git grep -lE --untracked '^\#!.*\b(ba)?sh$$' -- ':!components/hotkv/spec'
HOTKV_SCRIPTS := components/hotkv/spec/*.sh

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

.PHONY: up
up: $(LOCAL) ## make STACK real; on the local cluster, start that first
	@$(LOCAL) stack up "$$STACK"

.PHONY: preview
preview: $(LOCAL) ## show what up would do; needs no cluster
	@$(LOCAL) stack preview "$$STACK"

.PHONY: output
output: $(LOCAL) ## print the addresses and names of STACK
	@$(LOCAL) stack output "$$STACK"

.PHONY: refresh
refresh: $(LOCAL) ## compare STACK with its cluster
	@$(LOCAL) stack refresh "$$STACK"

.PHONY: destroy
destroy: $(LOCAL) ## remove what STACK made, but not the namespace and its volumes
	@$(LOCAL) stack destroy "$$STACK"

.PHONY: unlock
unlock: $(LOCAL) ## bring STACK back after its run was killed, and finish its up
	@$(LOCAL) stack unlock "$$STACK"

.PHONY: render
render: ## print the objects of STACK as YAML; needs no Pulumi and no cluster
	@go run ./infra render "$$STACK"

.PHONY: diff
diff: ## say as Markdown what changed of STACK's objects since the commit BASE
	@go run ./infra diff "$$STACK" "$$BASE"

.PHONY: stacks
stacks: ## print the names of the stacks as JSON
	@ls Pulumi.*.yaml | sed -E 's/^Pulumi\.(.+)\.yaml$$/"\1"/' | paste -sd, | sed 's/.*/[&]/'

.PHONY: tools
tools: $(LOCAL) ## find or build the Pulumi command line
	@$(LOCAL) tools

.PHONY: status
status: $(LOCAL) ## what runs in the local cluster
	@$(LOCAL) status

.PHONY: down
down: $(LOCAL) ## stop the local cluster; make up brings it back as it was
	@$(LOCAL) down

.PHONY: clean
clean: $(LOCAL) ## stop the local cluster and remove all state and everything built
	@$(LOCAL) clean

# Always asked: go build knows best whether it is up to date.
.PHONY: $(LOCAL) $(SHELLNUMBERS)
$(LOCAL):
	@cd infra/local && go build -o ../../$(LOCAL) .
$(SHELLNUMBERS):
	@cd infra/local/modules/checks && go build -o "$(CURDIR)/$(SHELLNUMBERS)" ./shellnumbers

.PHONY: test
test: check ## every test that needs no cluster
	@PATH="$$PWD/.local/bin:$$PATH" CI=true go test ./...
	@cd infra/local && go test ./...
	@cd infra/local/modules/checks && go test ./...
	@cd infra/e2e && go test ./load

.PHONY: chaos
chaos: $(LOCAL) ## hours of what can happen to a HotKV cluster and a Mooncake Store, with figures
	@$(LOCAL) needs
	@PATH="$$PWD/.local/bin:$$PATH" CI=true CHAOS=1 go test -count=1 -v -run 'Killed' ./components/hotkv/spec
	@$(LOCAL) tools
	@$(LOCAL) up
	@$(LOCAL) images infra/e2e/images
	@cd infra/e2e && CHAOS=1 go test -count=1 -timeout 4h -v -run "TestChaos$$STORY" .

.PHONY: check
check: $(LOCAL) $(SHELLNUMBERS) ## formatting, vet, staticcheck, shellcheck, shellnumbers, actionlint
	@$(LOCAL) needs
	@unformatted=$$(gofmt -l components stacks infra examples); \
	  [ -z "$$unformatted" ] || { echo "not formatted, run gofmt -w on: $$unformatted"; exit 1; }
	@for module in $(MODULES); do (cd $$module && go vet -tags e2e ./... && \
	  go tool -modfile="$(CHECKS)" staticcheck -tags e2e ./...); done
	@{ $(SCRIPTS); ls $(HOTKV_SCRIPTS); } | xargs shellcheck
	@$(SHELLNUMBERS) $(HOTKV_SCRIPTS)
	@$(SCRIPTS) | xargs -n 1 $(SHELLNUMBERS)
	@go tool -modfile="$(CHECKS)" actionlint

.PHONY: golden
golden: ## rewrite the golden files; read their diff before you commit it
	@go test ./stacks ./components/hotkv ./components/mooncake ./infra -run 'Schema|Objects|Stacks' -update

.PHONY: e2e
e2e: $(LOCAL) ## every test that needs a cluster; starts the local one
	@$(LOCAL) tools
	@$(LOCAL) up
	@$(LOCAL) images
	@cd infra/e2e && go test -count=1 -timeout 40m -v ./...

.PHONY: e2e-local
e2e-local: $(LOCAL) ## tests of the local cluster itself and of its images; it must be down
	@cd infra/local && go test -tags e2e -count=1 -timeout 20m ./internal/image ./internal/cluster
