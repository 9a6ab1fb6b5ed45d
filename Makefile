# The two commands that matter: `make demo` and `make test`.
# Everything else is a part of `make test`, or longer than it should be.

GO          ?= go
BUILD       := build
# Writes the list of modules that the programs are made of, for 'make release'.
CYCLONEDX   := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
# The version of a release, as Debian writes versions: its tag without the v.
VERSION     ?= 0.1.0~dev
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Packages with goroutines of their own: these also run under the race detector.
CONCURRENT  := ./link ./internal/check/... ./env/... ./distsys/... ./store ./internal/store/cache ./internal/store/memtable ./internal/store/slab \
               ./goose/primitive ./internal/evidence/crashtest ./mail/... ./cmd/mailboat ./worm ./internal/worm/node ./store/wal ./dedalus/rt/... ./examples/wal ./examples/groupcommit ./examples/asynclog \
               ./internal/evidence/store/serial
# Long tests of these packages that do one thing at a time, or what shorter ones do too: the race detector only slows them.
ALONE       := ^(TestRepairOfEachKindOfPage|TestVerifySeesWhatReadsMeet|TestATreeOfSeveralLevels|TestHolesAreMadeAgain|TestTheOlderSuperblock|TestFullFileSystemIsEmptied|TestSchedules|TestPowerIsLost|TestKeyspaceCrashes|TestKeyspacesAgainstMaps|TestIngestCrashes|TestIngestAgainstAMap|TestIterOptions|TestCrashesOfHistory|TestChangesAgainstAList|TestCopiesAgainstAMap|TestEveryPointInTime|TestFullDiskRefusesInTurn|TestZipfHits|TestEveryByteOfACheckpoint|TestOverwritesAreBounded|TestTheReserveIsNotInFragments|TestIngestsLeaveNumbers|TestHolesOnAFullDisk|TestCopiesOfAShrinkingStore|TestTheBorderMoves|TestRepairSurvivesACrash|TestHistograms|TestErrorsOfDamageShowNoKeys|TestPhasesThatOnlyReadWriteNothing|TestAnUnsyncedSuperblockIsFound|TestResumeHasAllInitialStates)$$
# As internal/tidy/unit.sh runs tests, which says why.
AS_UNIT     := -vet=off -ldflags=-w -exec 'env -u GOGC -u GOMEMLIMIT'
# What `make repeat` runs, and how often in each way.
REPEAT      ?= $(CONCURRENT)
COUNT       ?= 5
# What tests draw is the same at every run of `make test`, since what lands must not
# depend on luck; `go test` and `make repeat` draw anew.
unit race: export RAPID_SEED ?= 1
# The tools of Go collect garbage less often, which costs memory and saves a quarter of
# their time; the tests themselves run without these variables.
lint lint-peers build unit race: export GOGC ?= 400
lint lint-peers build unit race: export GOMEMLIMIT ?= 4GiB
# So does Coq, which saves a tenth of its time, and a third of the programs extracted from it.
proofs unit: export OCAMLRUNPARAM ?= s=8M,o=1000
# What `make sim` runs, as sim/suite reads it: first=N,seeds=N.
SIM         ?= seeds=20000
SIM_WORM    ?= seeds=2000
# How often `make attack` attacks.
ATTACKS     ?= 3
# How many crash states `make crash` explores.
STATES      ?= 100000000
SOAK        ?= 20
# How long each fuzz target runs in `make fuzz`; `make test` runs the seeds only,
# since what lands must not depend on luck.
FUZZTIME    ?= 10s
# How long random Dedalus programs are drawn in `make dedalus-fuzz`, and from which seed on.
DEDALUSFUZZTIME ?= 10m
DEDALUSFUZZFROM ?= 1000

# How long processes are killed in `make dedalus-kills`.
KILLTIME ?= 10m

.PHONY: demo test check build release lint lint-peers unit race counts repeat soak fuzz dedalus-fuzz sim crash raftkv-kill mutants proofs certifier proof-mutants proof-check corpus attack status bench bench-kv bench-worm bench-systems bench-dedalus bench-dedalus-machines bench-dedalus-quota dedalus-kills powerfail netns deps clean

## demo: check, compile, run and validate the lock service; then find a bug in a broken one.
demo: build
	$(GO) run ./examples/lockservice -ashlar $(BUILD)/ashlar

## test: everything that can be checked, installing what is missing. What is installed is
## unpacked beside lint and build, which do not need it.
test:
	@sh .ci/deps & deps=$$!; $(MAKE) --no-print-directory lint build; status=$$?; wait $$deps && exit $$status
	@$(MAKE) --no-print-directory lint-peers proofs unit race demo
	@echo "all checks passed"

## check: the quick part of `test`, for every save.
check: build
	$(GO) vet ./... && $(GO) test -short ./... && $(GO) -C bench test -short ./...

## release: the programs for Linux and macOS, stripped, Debian packages, the list of what they are made of, and checksums, in build/release.
release:
	@set -e; for os in linux darwin; do for arch in amd64 arm64; do \
	    out=$(BUILD)/release/ashlar-$$os-$$arch; mkdir -p $$out; \
	    CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags "-s -w" -o $$out/ ./cmd/ashlar ./cmd/ashlard ./cmd/mailboat; \
	    cp LICENSE README.md CHANGELOG.md $$out; \
	    if [ $$os = linux ]; then cp packaging/Dockerfile $$out; packaging/deb.sh $$out $$arch $(VERSION) $(BUILD)/release/ashlar_$(VERSION)_$$arch.deb; fi; \
	    tar -C $(BUILD)/release -czf $$out.tar.gz ashlar-$$os-$$arch; rm -r $$out; \
	done; done
	$(GO) run $(CYCLONEDX) mod -licenses -json -output $(BUILD)/release/ashlar.cdx.json
	@cd $(BUILD)/release && sha256sum *.tar.gz *.deb *.json >SHA256SUMS && cat SHA256SUMS

build:
	@mkdir -p $(BUILD)
	$(GO) build -o $(BUILD)/ ./cmd/...

## lint: formatting, go.mod, vet and staticcheck.
lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed:" $$unformatted; exit 1; fi
	set -e; for module in . bench; do \
	    $(GO) -C $$module mod tidy -diff; \
	    $(GO) -C $$module vet ./...; \
	    $(GO) -C $$module run $(STATICCHECK) ./...; \
	done

# lint-peers: the drivers of the benchmarks' peers, as lint does the rest; that of RocksDB needs its headers.
lint-peers:
	@if [ -e /usr/include/rocksdb/c.h ]; then $(GO) -C bench vet -tags rocksdb ./kv ./powerfail; \
	else echo "not looked at: the drivers for RocksDB, whose headers are missing"; fi
	$(GO) -C bench vet -tags etcd ./worm ./systems

unit:
	@GO="$(GO)" sh internal/tidy/unit.sh

race:
	$(GO) test $(AS_UNIT) -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -race -short -timeout 20m -skip '$(ALONE)' $(CONCURRENT)
	$(GO) test $(AS_UNIT) -tags invariants -short -run 'Locks|Concurrent|Parked|Close|Scrub' ./internal/invariant ./store

## repeat: the tests of `race` as slow, small and busy machines would run them, COUNT times each; REPEAT names other packages.
repeat:
	@GO="$(GO)" BUILD="$(BUILD)" COUNT="$(COUNT)" sh internal/tidy/repeat.sh $(REPEAT)

## fuzz: every fuzz target for FUZZTIME each.
fuzz:
	GO="$(GO)" FUZZTIME=$(FUZZTIME) sh internal/tidy/fuzz.sh

## dedalus-fuzz: every step that is allowed on ever new random Dedalus programs, compared, for DEDALUSFUZZTIME.
dedalus-fuzz:
	ASHLAR_DRAWN_FOR=$(DEDALUSFUZZTIME) ASHLAR_DRAWN_FROM=$(DEDALUSFUZZFROM) $(GO) test -count=1 -timeout 24h -v -run TestDrawn ./internal/evidence/dedalus/drawn

## sim: many more seeds than `make test` runs, and the simulator's mutants.
sim:
	ASHLAR_SIM=$(SIM) $(GO) test -count=1 -timeout 6h ./sim/...
	$(GO) run ./internal/mutant/cmd/mutants -write -only '^sim/'
	ASHLAR_SIM=$(SIM_WORM) $(GO) test -count=1 -timeout 6h ./internal/evidence/worm/simulation ./internal/worm/node ./store/wal

## dedalus-kills: processes of multi-Paxos, one of which is killed every five seconds for KILLTIME, while its log is trimmed; nothing is lost, and memory is bounded.
dedalus-kills:
	ASHLAR_KILLS=$(KILLTIME) $(GO) test -count=1 -timeout 24h -v -run TestKilledForLong ./examples/dedalus/compiled

## crash: many more crash states and full disks of the store than `make test` explores.
crash:
	ASHLAR_CRASH_STATES=$(STATES) $(GO) test -count=1 -timeout 24h -v -run TestCrashes ./internal/evidence/store/explore
	ASHLAR_FULL_DISKS=all $(GO) test -count=1 -timeout 2h -run TestFullDisk ./store

## raftkv-kill: servers of RaftKV killed KILLS times, and what clients saw judged; its long specifications.
KILLS ?= 200
raftkv-kill:
	ASHLAR_RAFTKV_KILLS=$(KILLS) $(GO) test -count=1 -timeout 6h -v -run TestKill ./examples/raftkv
	ASHLAR_LONG=1 $(GO) test -count=1 -timeout 6h -run 'RaftKV|Counts/raftkv' ./specs

## soak: the attack on the memory bound of a store, SOAK times as long, a tree of 100 GB, and the check of a trace of ten million sections; the kernel says what they take.
soak:
	ASHLAR_LONG_TRACE=10000000 $(GO) test -count=1 -timeout 24h -v -run TestLongLogs ./internal/conform
	$(GO) test -count=1 -timeout 24h -v -run TestUnderPressure ./store -args -pressure $(SOAK)
	ASHLAR_SOAK=1 $(GO) test -count=1 -timeout 2h -v -run TestBranchesAreBounded ./internal/store/trunk

## mutants: named mistakes in the code, each of which a test must notice; writes build/mutants.md.
mutants:
	$(GO) run ./internal/mutant/cmd/mutants -write $(if $(ASHLAR_MUTANTS),-only '$(ASHLAR_MUTANTS)')

## proofs: every proof from its source, and the ten slowest files.
proofs:
	@if command -v coqc >/dev/null 2>&1; then $(MAKE) --no-print-directory -j2 -C proofs; \
	else echo "not built: the proofs, for want of coqc"; fi

## certifier: the checker of Dedalus certificates that is extracted from Coq, for `ashlar dedalus certify --proved`, in build/certifier.
certifier:
	@if command -v coqc >/dev/null 2>&1 && command -v ocamlopt >/dev/null 2>&1; then $(MAKE) --no-print-directory -C proofs certifier; \
	else echo "not built: the checker of certificates, for want of coqc and ocamlopt"; exit 1; fi

## proof-mutants: bugs in the proved programs, each of which a proof must notice; writes build/proof-mutants.md.
proof-mutants: proofs
	$(GO) run ./internal/mutant/cmd/proofmutants -write

## proof-check: Coq's separate checker on the compiled theorems of CHECK, files of proofs/top, and all that they rest on; says which axioms there are.
CHECK ?= register
proof-check:
	$(MAKE) --no-print-directory -C proofs $(CHECK:%=top/%.vo)
	cd proofs && coqchk -silent -o -Q . ashlar $(CHECK:%=ashlar.top.%)

## bench-kv: key-value stores beside each other, small; `go -C bench run ./kv -help` has the rest.
bench-kv:
	$(GO) -C bench run -tags rocksdb ./kv -preset smoke

## bench-worm: registers, logs and transactions beside etcd and Redis; `go -C bench run -tags etcd ./worm -help` has the rest.
bench-worm:
	$(GO) -C bench run -tags etcd ./worm

## bench-systems: RaftKV, compiled from its specification, beside etcd; `go -C bench run -tags etcd ./systems -help` has the rest.
bench-systems:
	$(GO) run ./examples/raftkv build $(BUILD)/raftkv
	$(GO) -C bench run -tags etcd ./systems -raftkv $(abspath $(BUILD))/raftkv

## bench-dedalus: compiled rules, as written and as rewritten, beside Go by hand and Hydro's runtime, which cargo builds.
bench-dedalus:
	$(GO) -C bench run ./dedalus

## bench-dedalus-quota: real processes with 3% of a core each, in control groups, which checks the ratios of bench-dedalus-machines; Linux, as root.
bench-dedalus-quota:
	$(GO) -C bench run ./dedalus -quota 3 -peers '' -programs voting,voting:voting-26,multipaxos,multipaxos:multipaxos-29 -clients 4000 -rounds 1

## bench-dedalus-machines: compiled rules, as written and as rewritten, as if each node had a machine, beside the paper's figures.
bench-dedalus-machines:
	$(GO) -C bench run ./dedalus/machines

## powerfail: what stores keep when the power fails, on a file system that holds back what was not synced.
powerfail:
	$(GO) -C bench run ./powerfail -engines all -rounds 200 -seed 1

## corpus: every model of the public corpus and of specs with its exact counts, the long ones too, and compiled.
corpus: build
	ASHLAR_LONG=1 $(GO) test -count=1 -timeout 4h ./specs
	ASHLAR_CORPUS=all ASHLAR_NATIVE=1 $(GO) test -count=1 -timeout 4h -v -run 'TestCorpus|TestNativeAgrees' ./internal/model

## netns: the lock service and WormSpace with one network namespace per process, loss and killed processes.
netns: build
	$(GO) test -count=1 -timeout 5m -v -run TestNamespaces ./examples/lockservice ./internal/evidence/worm/nemesis

## attack: strangers against every port, and drawn specifications, programs, rules and loads against judges that share no code with what they judge; ATTACKS times.
attack: build
	$(GO) test -count=$(ATTACKS) -timeout 2h ./internal/cli/ending
	$(GO) test -count=$(ATTACKS) -timeout 2h -run 'Stranger|Unfinished|Flood|Idle|Restore|WrongProtocols|FullMemory|EverybodyReplaced' ./cmd/ashlard/daemon
	$(GO) test -count=$(ATTACKS) -timeout 2h -run 'Slow|Limits|Full|Few|Bounded' ./cmd/mailboat
	$(GO) test -count=$(ATTACKS) -timeout 2h -run 'Stranger|Unfinished|Slow|OneHost|Hosts|Late|Proves|Impostors|Said' ./distsys/resource/mailbox ./link
	$(GO) test -count=$(ATTACKS) -timeout 2h -run 'RandomCalls|Damaged' ./internal/compile
	for seed in $$(seq $(ATTACKS)); do ASHLAR_SEED=$$seed $(GO) test -count=1 -timeout 2h -run OfInstances ./internal/model || exit 1; done
	$(GO) test -count=1 -timeout 2h -run 'UnderPressure|VerifySeesWhatReadsMeet' ./store -pressure $$((8 * $(ATTACKS)))
	$(MAKE) --no-print-directory dedalus-fuzz DEDALUSFUZZTIME=$$((2 * $(ATTACKS)))m

## status: every command behind a claim of docs/status.md, with the date and what came of it, in build/status.md; hours.
status: build
	$(GO) run ./internal/status/cmd/status -o $(BUILD)/status.md

## bench: the benchmarks behind the README's figures.
bench:
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m ./internal/... ./link ./distsys/... ./sim/... ./store/... ./tla/... ./worm/... ./dedalus/...

## counts: how large the house is: files, lines, exported names, structs, packages, the programs stripped.
counts:
	@$(GO) run ./internal/tidy/counts
	@for program in ashlar ashlard mailboat dedalusd; do \
	    CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o $(BUILD)/stripped ./cmd/$$program && \
	    echo "$$(wc -c <$(BUILD)/stripped) bytes: $$program, as 'make release' builds it"; \
	done; rm -f $(BUILD)/stripped

## deps: what the tests need of the distribution's packages.
deps:
	@sh .ci/deps

clean:
	rm -rf $(BUILD)
