# The commands that people type. These targets fetch everything but the toolchains (cargo; node for the report's pages).

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
AA_TESTS ?= 20
BENCH_ROUNDS ?= 9
BENCH_SECONDS ?= 3
BENCH_MINUTES ?= 10
HOSTS_BLOCKS ?= 3
PAGE ?=

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
PROGRAM := target/release/sysdyno

.PHONY: help build dist dist-test demo cases cases-full test selftest crash-test web-test h2spec-test hostile-test hadoop-test hosts-test prove-test fleet-demo fleet-test fleet-scale fleet-simulation aa-test bench users bench-tools witness fuzz install clean

help:
	@echo 'make build              build target/release/sysdyno'
	@echo 'make dist               static programs for x86-64 and 64-bit ARM in dist/, in archives with documents, and their SHA-256'
	@echo 'make dist-test          put them to work, that of the other machine under qemu-user; a minute after the build'
	@echo 'make demo               build it, then find a planted bottleneck and prove its remedy, in a minute and a half'
	@echo 'make cases              the short versions of experiments that bring their lab, a line each, and what is left; as root'
	@echo 'make cases-full         all of them at full length, for a night; the folders are kept in CASES_FOLDER, if it is set'
	@echo 'make test               format, lints, all tests; as root also installs what they need'
	@echo 'make selftest           plant every known fault in real services at three intensities, and judge each diagnosis; as root, about 25 minutes'
	@echo 'make crash-test         kill sysdyno tune and lab at every system call, compare all settings and leftovers;'
	@echo '                        full and broken disks under a record; about 50 minutes'
	@echo 'make web-test           every page in a browser, at each width, and whether it can be used without seeing it'
	@echo 'make h2spec-test        h2specd, the 57 client cases of h2spec, against both back ends; a few seconds after the build'
	@echo 'make hostile-test       all broken servers against the back end that make test tries a sample on; a minute after the build'
	@echo 'make hadoop-test        a word count in a Hadoop cluster of four hosts and in the image of one; jars by Maven; as root, about 5 minutes'
	@echo 'make hosts-test         one capacity from the server'\''s host, from another one and over a real sshd; as root, $(HOSTS_BLOCKS) blocks of 4 minutes'
	@echo 'make prove-test         squeezes, proofs, and autotunes of simulated servers, and squeezes of real ones whose bottleneck is known;'
	@echo '                        as root, about a quarter of an hour'
	@echo 'make fleet-demo         eight agents of a fleet in network namespaces, a broker, and one load from all of them; as root, a minute'
	@echo 'make fleet-scale        fifty agents that send, 500 more that wait: exact counts, traffic, memory; as root, three minutes'
	@echo 'make fleet-simulation   ten thousand agents and their controller with a simulated clock and broker; about ten minutes'
	@echo 'make fleet-test         kill, freeze, and cut off agents, controller, and broker under load; wrong keys, versions, and messages; as root'
	@echo 'make aa-test            sysdyno try on this host against itself, $(AA_TESTS) times; prints how often the word was false'
	@echo 'make bench              CPU per request, rate and p99 beside wrk, ab, h2load, memcaslap and others on the same'
	@echo '                        servers; slip, scaling, memory, runs that last; about 55 minutes on a quiet machine'
	@echo '                        (BENCH_ROUNDS=$(BENCH_ROUNDS) BENCH_SECONDS=$(BENCH_SECONDS) BENCH_MINUTES=$(BENCH_MINUTES) BENCH_ONLY=h2,tls PAGE=docs/dev/bench.md)'
	@echo 'make users              100,000 users of a session in one process for a minute: verdict, rules, memory; about 4 minutes'
	@echo 'make bench-tools        install the tools to compare with; as root by apt-get, oha by cargo'
	@echo 'make witness            service times beside those of a packet capture of the same run; as root'
	@echo '                        (PAGE=docs/dev/method/witness.md)'
	@echo 'make fuzz               feed the decoders what no server should send (FUZZ_SECONDS=$(FUZZ_SECONDS))'
	@echo 'make install PREFIX=    install program, man pages, completions, documents, and the unit that recovers settings at boot ($(PREFIX))'
	@echo 'make clean              remove everything that was built'

build:
	$(CARGO) build --release --package sysdyno
	@if [ '$(TARGET_DIR)' != target ]; then mkdir -p target/release && cp '$(TARGET_DIR)/release/sysdyno' $(PROGRAM); fi

dist:
	scripts/dist

dist-test: dist
	scripts/test-dist

demo: build
	SYSDYNO_TARGET_ALLOW="$$(scripts/fence)" $(PROGRAM) demo

cases: build
	scripts/cases $(PROGRAM)

cases-full: build
	scripts/cases --full $(PROGRAM)

test:
	scripts/test

selftest: build
	SYSDYNO_TARGET_ALLOW="$$(scripts/fence)" $(PROGRAM) selftest diagnose --yes

crash-test:
	SYSDYNO_CRASH_TESTS=all $(CARGO) test --package sysdyno --test crash
	SYSDYNO_CRASH_TESTS=all $(CARGO) test --package sysdyno --test record
	SYSDYNO_CRASH_TESTS=all $(CARGO) test --package sysdyno --test lab
	SYSDYNO_CRASH_TESTS=all $(CARGO) test --package sysdyno --test cli -- tryout::killed

web-test:
	SYSDYNO_WEB_TESTS=all scripts/test-web

h2spec-test:
	scripts/install-h2specd
	$(CARGO) test --package sysdyno-load --lib -- --nocapture h2spec

hostile-test:
	SYSDYNO_IO=epoll SYSDYNO_HOSTILE_TESTS=all $(CARGO) test --workspace --test cli -- hostile::

hadoop-test: build
	scripts/test-hadoop '$(PROGRAM)'
	scripts/test-hadoop-image '$(PROGRAM)'

hosts-test: build
	scripts/test-hosts '$(PROGRAM)' $(HOSTS_BLOCKS)

prove-test: build
	SYSDYNO_SLOW_TESTS=1 $(CARGO) test --package sysdyno-analyze --lib -- --nocapture --test-threads 1 squeeze::tests autotune:: proof::
	scripts/test-prove '$(PROGRAM)'

fleet-demo: build
	scripts/fleet-demo '$(PROGRAM)'

SIMULATED_AGENTS := 10000
fleet-simulation:
	SYSDYNO_SIMULATED_AGENTS=$(SIMULATED_AGENTS) $(CARGO) test --release --package sysdyno-fleet --lib -- --nocapture simulated

FLEET_NEEDS := root,iproute2,nginx,namespaces,nats-server,nftables,unshare
fleet-test:
	scripts/install-test-deps
	scripts/test-manifests
	SYSDYNO_FLEET_TESTS=all SYSDYNO_REQUIRE=$(FLEET_NEEDS) $(CARGO) test --workspace --test cli -- fleet::

fleet-scale: build
	scripts/fleet-scale '$(PROGRAM)'

aa-test:
	SYSDYNO_AA_TESTS=$(AA_TESTS) $(CARGO) test --package sysdyno --test cli -- tryout::aa

bench: build
	bench/run --rounds $(BENCH_ROUNDS) --seconds $(BENCH_SECONDS) --minutes $(BENCH_MINUTES) --program $(PROGRAM) $(if $(BENCH_ONLY),--only '$(BENCH_ONLY)') $(if $(PAGE),--markdown '$(PAGE)')

users: build
	bench/run --only users --rounds 1 --program $(PROGRAM)

bench-tools:
	bench/tools

witness: build
	bench/witness --program $(PROGRAM) $(if $(PAGE),--markdown '$(PAGE)')

fuzz:
	scripts/fuzz $(FUZZ_SECONDS)

install: build
	scripts/install '$(PROGRAM)' '$(PREFIX)' '$(DESTDIR)'

clean:
	$(CARGO) clean
	rm -rf dist web/node_modules web/dist fuzz/target fuzz/corpus fuzz/artifacts bench/results
