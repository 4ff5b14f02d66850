# Sluice.  make deps | make | make test | make demo | make install PREFIX=/usr/local
CC       ?= cc
CFLAGS   ?= -O2 -g
WARN      = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
PREFIX   ?= /usr/local
B        ?= build
ifdef SAN
B         = build/san
CFLAGS    = -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
LDFLAGS  += -fsanitize=address,undefined
endif
# the same with clang, which before version 20 does not say by a macro that there is a sanitizer, and what libFuzzer counts
ifdef FUZZ
B         = build/fuzz
CC        = clang
CFLAGS    = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -D__SANITIZE_ADDRESS__=1
LDFLAGS  += -fsanitize=address,undefined
endif

ROOMS     = trace schedule fuse render run pack
TOOLS     = trace simplify grad jvp vmap jac hess schedule fuse layout tune lower render render-c render-clang render-llvm render-opencl render-cuda render-metal \
            compile run pack show info diff match rewrite bisect reduce prove keygen functions schema why sluice
# files of a kind in a folder's rooms, as deep as they go: here, trace/onnx/operators
files     = $(foreach d,$(1) $(1)/* $(1)/*/*,$(wildcard $(d)/*.$(2)))
comma     = ,
# a file that is named as a tool has its main
MAINS     = $(foreach r,$(ROOMS) common/tools,$(foreach f,$(call files,$(r),c),$(if $(filter $(TOOLS),$(basename $(notdir $(f)))),$(f))))
LIBS      = $(B)/libcommon.a $(foreach r,$(ROOMS),$(B)/lib$(r).a)
# in the tools themselves where the archive is installed: a library to load costs each process 0.1 ms
archived  = $(if $(findstring /,$(shell $(CC) -print-file-name=lib$(1).a)),-l:lib$(1).a,-l$(1))
LDLIBS   := -lmsgpackc $(call archived,xxhash) $(call archived,sodium) $(call archived,z) -ldl -lpthread -lm

# ONNX is read when its schema and protobuf-c are installed; without them trace says so
ONNX_PROTO ?= $(firstword $(wildcard /usr/include/onnx/onnx.proto /usr/local/include/onnx/onnx.proto))
ifneq ($(and $(ONNX_PROTO),$(shell command -v protoc-c),$(wildcard /usr/include/protobuf-c/protobuf-c.h \
    /usr/local/include/protobuf-c/protobuf-c.h)),)
ONNX      = $(B)/gen/onnx/onnx.pb-c
endif
objs      = $(patsubst %.c,$(B)/%.o,$(filter-out $(MAINS) common/tools/box.c,$(call files,$(1),c)))

HEADERS   = $(addprefix $(B)/include/sluice/,tensor.h tensor.hpp tensor_api.h tensor_steps.h \
	functions.h)

all: $(B)/gen/ops.checked $(addprefix $(B)/bin/,$(TOOLS)) $(B)/sluice $(HEADERS)

# one name for all the tools, without theirs: export PATH=$PWD/build:$PATH
$(B)/sluice: $(B)/bin/sluice
	ln -sf bin/sluice $@

# What is missing is installed first; nothing is done, and nothing asked, when all is there.
PACKAGES  = libmsgpack-dev libxxhash-dev libsodium-dev zlib1g-dev libzmq3-dev ocl-icd-libopencl1 opencl-headers \
            protobuf-c-compiler libprotobuf-c-dev libonnx-dev libsqlite3-0
TESTING   = bats parallel pocl-opencl-icd graphviz python3 python3-msgpack
# other compilers and processors, and what opens pages: without them their tests are skipped
CROSS     = clang gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
# what render -t llvm is compiled by
LLVM      = libllvm14
# microcontrollers, on boards of QEMU's: 130 MB to download
BOARDS    = gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
BROWSER   = chromium
deps:
	@sh common/process/deps.sh $(PACKAGES) $(TESTING)
	@for p in "$(CROSS)" "$(LLVM)" "$(BOARDS)" "$(BROWSER)"; do sh common/process/deps.sh $$p || \
		echo "deps: tests that need them are skipped" >&2; done
	@mkdir -p build; $(MAKE) --no-print-directory -s build/venv/testing build/packages/ready 2> build/venv.log || \
		echo "deps: tests against ONNX Runtime and scikit-learn may be skipped (build/venv.log)" >&2
$(B)/%.o: %.c | $(B)/gen/ops.checked
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Icommon -I$(firstword $(subst /, ,$*)) -I$(B)/gen -MMD -MP -c -o $@ $<

# an op that lacks something is told here, before anything is compiled: the files in the order of op_check.sh
OP_FILES  = common/graph/ops.def common/interp/int.c common/interp/float.c render/print/helpers.c render/target/targets.def \
            render/lower/decompose.rules trace/derive/grad.rules trace/derive/vmap.rules tests/ops/make.py tests/ops/points.txt
$(B)/gen/ops.checked: common/graph/op_check.sh $(OP_FILES)
	@mkdir -p $(@D)
	@sh $^
	@touch $@

# a multiply-add in one instruction, as compiled kernels have it
$(B)/common/machine/loops.o: CFLAGS += -ffp-contract=fast

# rule files are compiled in: gen/rules.inc has each as a string
RULES     = $(foreach r,common $(ROOMS),$(call files,$(r),rules))
$(B)/gen/rules.inc: $(RULES) common/rules/embed.sh
	@mkdir -p $(@D)
	sh common/rules/embed.sh $(RULES) > $@.tmp && mv $@.tmp $@
$(B)/common/rules/builtin.o: $(B)/gen/rules.inc

# texts of which pack makes files
TEMPLATES = $(wildcard pack/*/*.tmpl) common/packed/packed.h
$(B)/gen/templates.inc: $(TEMPLATES) common/rules/embed.sh
	@mkdir -p $(@D)
	sh common/rules/embed.sh $(TEMPLATES) > $@.tmp && mv $@.tmp $@
$(B)/pack/emit/template.o: $(B)/gen/templates.inc

# what a page of show --html is made of: $(B)/gen/page.inc has each file as a string
PAGE      = $(wildcard common/show/*.html common/show/*.css common/show/*.js)
$(B)/gen/page.inc: $(PAGE) common/rules/embed.sh
	@mkdir -p $(@D)
	sh common/rules/embed.sh $(PAGE) > $@.tmp && mv $@.tmp $@
$(B)/common/show/html.o: $(B)/gen/page.inc

# what programs in C include
$(B)/include/sluice/functions.h: trace/c/tensor_functions.sh trace/library/functions.def common/graph/dtypes.def
	@mkdir -p $(@D)
	sh $^ > $@.tmp && mv $@.tmp $@
$(B)/include/sluice/%: trace/c/%
	@mkdir -p $(@D)
	cp $< $@

PROTOBUF := $(call archived,protobuf-c)
ifdef ONNX
$(ONNX).c: $(ONNX_PROTO)
	@mkdir -p $(@D)
	protoc-c --c_out=$(B)/gen -I$(patsubst %/onnx/onnx.proto,%,$<) $<
$(ONNX).h: $(ONNX).c
$(ONNX).o: $(ONNX).c
	$(CC) -std=c11 $(CFLAGS) -I$(B)/gen -c -o $@ $<
$(patsubst %.c,$(B)/%.o,$(call files,trace/onnx,c)): $(ONNX).c
$(B)/trace/onnx/%.o: CFLAGS += -DHAVE_ONNX
$(B)/libtrace.a: $(ONNX).o
$(B)/bin/trace $(B)/bin/info: LDLIBS += $(PROTOBUF)
endif

.SECONDEXPANSION:
$(B)/lib%.a: $$(call objs,$$*)
	@rm -f $@
	$(AR) qcs $@ $^

# the folder of a tool's main decides which room it is linked with
room      = $(filter $(ROOMS),$(firstword $(subst /, ,$(filter %/$(1).c,$(MAINS)))))
mainsrc   = $(filter %/$(1).c,$(MAINS))
mainobj   = $(patsubst %.c,$(B)/%.o,$(mainsrc))
$(B)/bin/%: $$(call mainobj,$$*) $$(if $$(call room,$$*),$(B)/lib$$(call room,$$*).a) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# N passed, N failed
test: deps
	@$(MAKE) --no-print-directory all SAN=$(SAN)
	@BIN=$(abspath $(B))/bin CC="$(CC)" bash tests/run.sh $(T)

demo:
	@sh common/process/deps.sh $(PACKAGES)
	@$(MAKE) --no-print-directory all
	@SLUICE_BIN=$(abspath $(B))/bin bash pipelines/digits.sh

# expected texts written anew from what the tools print; look at the difference before committing it
rebase: all
	@BIN=$(abspath $(B))/bin bash tests/rebase.sh

# One program that is all the tools, by the name that it is started with, without symbols: a tenth of their size, and each
# stage is still a process of its own.  Per room one object file, in which only the mains, as main_of_NAME, can be seen from
# outside: rooms go on sharing nothing but common.
BOX       = $(B)/box
symbol    = main_of_$(subst -,_,$(1))
$(BOX)/main_%.o: $$(call mainobj,$$*)
	@mkdir -p $(@D)
	$(LD) -r -o $@ $^
	objcopy --redefine-sym main=$(call symbol,$*) $@
of_room   = $(foreach t,$(TOOLS),$(if $(filter $(1),$(call room,$(t))),$(BOX)/main_$(t).o))
$(BOX)/%.o: $$(call of_room,$$*) $(B)/lib%.a
	$(LD) -r -o $@ $(filter %.o,$^) --whole-archive $(filter %.a,$^)
	objcopy --wildcard --keep-global-symbol='main_of_*' $@
$(BOX)/table.inc: Makefile
	@mkdir -p $(@D)
	for t in $(TOOLS); do echo "TOOL(\"$$t\", main_of_$$(echo $$t | tr - _))"; done > $@
$(BOX)/box.o: common/tools/box.c $(BOX)/table.inc
	$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Icommon -I$(BOX) -c -o $@ $<
$(BOX)/sluice: $(BOX)/box.o $(foreach r,$(ROOMS),$(BOX)/$(r).o) \
    $(foreach t,$(TOOLS),$(if $(call room,$(t)),,$(BOX)/main_$(t).o)) $(B)/libcommon.a
	$(CC) $(LDFLAGS) -s -o $@ $^ $(if $(ONNX),$(PROTOBUF)) $(LDLIBS)

LIBEXEC   = $(DESTDIR)$(PREFIX)/libexec/sluice
SHARE     = $(DESTDIR)$(PREFIX)/share
COMPLETE  = bash-completion/completions/sluice zsh/site-functions/_sluice
man_page  = $(SHARE)/man/man1/sluice$(if $(filter-out sluice,$(1)),-$(1)).1
install: all $(BOX)/sluice
	install -d $(DESTDIR)$(PREFIX)/bin $(LIBEXEC) $(DESTDIR)$(PREFIX)/include/sluice $(SHARE)/man/man1 \
		$(dir $(addprefix $(SHARE)/,$(COMPLETE)))
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/sluice
	install -m 755 $(BOX)/sluice $(LIBEXEC)/sluice
	for t in $(filter-out sluice,$(TOOLS)); do ln -sf sluice $(LIBEXEC)/$$t || exit 1; done
	ln -sf ../libexec/sluice/sluice $(DESTDIR)$(PREFIX)/bin/sluice
	@$(foreach t,$(TOOLS),sh common/process/man.sh $(B)/bin $(t) > $(call man_page,$(t)) &&) true
	sh common/process/completion.sh bash $(B)/bin $(TOOLS) > $(SHARE)/bash-completion/completions/sluice
	sh common/process/completion.sh zsh $(B)/bin $(TOOLS) > $(SHARE)/zsh/site-functions/_sluice
# what install has written, and nothing else
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/sluice $(addprefix $(LIBEXEC)/,$(TOOLS)) $(addprefix $(SHARE)/,$(COMPLETE)) \
		$(addprefix $(DESTDIR)$(PREFIX)/include/sluice/,$(notdir $(HEADERS))) $(foreach t,$(TOOLS),$(call man_page,$(t)))
	rmdir --ignore-fail-on-non-empty $(LIBEXEC) $(DESTDIR)$(PREFIX)/include/sluice

# the ONNX backend tests, made by the onnx package in a venv: passes by class, the mean over operators; CASES=--match=Conv
build/venv/ready:
	python3 -m venv build/venv
	build/venv/bin/pip install -q numpy ml_dtypes onnx
	@touch $@
# what models are made by and compared with in tests, and packages that have models inside: PIP has options for pip
PIP       = --disable-pip-version-check --retries 1 -q
build/venv/testing: build/venv/ready
	build/venv/bin/pip install $(PIP) onnxruntime scikit-learn skl2onnx
	@touch $@
build/packages/ready: tests/published.py build/venv/ready
	@mkdir -p $(@D)
	@for p in $$(build/venv/bin/python tests/published.py --packages); do \
		build/venv/bin/pip download $(PIP) --no-deps --only-binary :all: -d $(@D) $$p || \
			{ echo "left out: $$p" >&2; left=1; }; done; test -z "$$left" && touch $@
conformance: all build/venv/ready
	@for how in interpret fuse nofuse; do echo "$$how:"; \
		build/venv/bin/python -W ignore tests/conformance/run.py $(B)/bin --how $$how $(CASES) || exit 1; done

# models of full width against ONNX Runtime, which is installed for it; MODELS=gpt2, DEPTH=12 of the transformers
DEPTH    ?= 4
models: all build/venv/ready
	@build/venv/bin/pip install -q onnxruntime
	build/venv/bin/python tests/models/make.py --depth $(DEPTH) build/models $(MODELS)
	build/venv/bin/python tests/models/check.py $(abspath $(B))/bin build/models \
		$(or $(MODELS),$$(build/venv/bin/python tests/models/make.py --list))

# small exports of PyTorch with all sizes open, by a Python that has torch, torchvision, transformers and onnxscript;
# EXPORTS="swin detr"
TORCH_PYTHON ?= python3
exports: all build/venv/testing
	$(TORCH_PYTHON) tests/exports/make.py build/exports $(EXPORTS)
	build/venv/bin/python tests/exports/check.py $(abspath $(B))/bin build/exports

# figures against peers, which are installed for it, those that can be; BENCH has options for bench.py.  Against the machine
# alone: bench-quick
build/venv/peers: build/venv/ready
	@for p in scipy onnxruntime openvino jax tinygrad "$(or $(TORCH),torch)"; do \
		build/venv/bin/pip install -q $$p || echo "left out: $$p" >&2; done
	@touch $@
bench: all build/venv/peers
	@build/venv/bin/python tests/bench/bench.py --bin $(abspath $(B))/bin --compile $(BENCH)
	@build/venv/bin/python tests/bench/training.py --bin $(abspath $(B))/bin
bench-training: all build/venv/peers
	@build/venv/bin/python tests/bench/training.py --bin $(abspath $(B))/bin $(BENCH)
bench-open: all build/venv/ready
	@build/venv/bin/pip install -q onnxruntime
	@build/venv/bin/python tests/models/make.py --depth $(DEPTH) build/models $(MODELS)
	@build/venv/bin/python tests/bench/open_sizes.py --bin $(abspath $(B))/bin $(BENCH) build/models \
		$(or $(MODELS),$$(build/venv/bin/python tests/models/make.py --list))
bench-recurrent: all build/venv/ready
	@build/venv/bin/pip install -q onnxruntime onnx
	@build/venv/bin/python tests/bench/recurrent.py --bin $(abspath $(B))/bin $(BENCH)
bench-embedded: all build/venv/ready
	@for p in emlearn tflite-micro; do build/venv/bin/pip install $(PIP) $$p || echo "left out: $$p" >&2; done
	@build/venv/bin/python tests/bench/embedded.py --bin $(abspath $(B))/bin $(BENCH)
bench-quick: all
	@BIN=$(abspath $(B))/bin CC="$(CC)" bash tests/bench/quick.sh $(BENCH)
# on a CUDA device, beside PyTorch, which has to be there with numpy and onnx: PYTHON names that Python
bench-gpu: all
	@$(or $(PYTHON),python3) tests/bench/gpu.py --bin $(abspath $(B))/bin $(BENCH)

# the greatest error of each function, over every f32; ACCURACY="clang -march=x86-64" for another compiler or processor
accuracy: all
	@BIN=$(abspath $(B))/bin CC="$(CC)" bash tests/accuracy.sh all $(ACCURACY)

# Fuzzing (tests/fuzz/README.md): a reader a target (tests/fuzz/target_READER.c), and a stage a target, its main under
# another name; and the generators of documents, graphs, faults and models.  make fuzz MINUTES=60 TARGETS="document lower graphs"
READERS   = document text stream program onnx arrays rules sizes
STAGES    = simplify schedule fuse lower render-c render-clang render-llvm render-opencl
GENERATORS = documents graphs faults onnx_models
TARGETS  ?= $(READERS) $(STAGES) $(GENERATORS)
MINUTES  ?= 15
WRAPPED   = _Exit die_bug file_map endpoint_in endpoint_get
fuzzer    = $(CC) -fsanitize=fuzzer,address,undefined $(patsubst %,-Wl$(comma)--wrap=%,$(WRAPPED)) -o $@ $(filter %.o %.a,$^) \
	$(LDLIBS) $(if $(ONNX),$(PROTOBUF))
$(B)/fuzz/%.o: tests/fuzz/%.c | $(B)/gen/ops.checked
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Icommon -Itrace -MMD -MP -c -o $@ $<
$(B)/fuzz/main_%.o: $$(call mainsrc,$$*) | $(B)/gen/ops.checked
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Icommon -I$(firstword $(subst /, ,$<)) -I$(B)/gen -Dmain=tool_main -MMD -MP -c -o $@ $<
$(addprefix $(B)/fuzz/,$(READERS)): $(B)/fuzz/%: $(B)/fuzz/target_%.o $(B)/fuzz/seam.o $(B)/libtrace.a $(B)/libcommon.a
	$(fuzzer)
$(B)/fuzz/document: $(B)/fuzz/mutate.o $(B)/fuzz/mutator.o
$(addprefix $(B)/fuzz/,$(STAGES)): WRAPPED += spawn_pipeline stream_out_close mmap
$(addprefix $(B)/fuzz/,$(STAGES)): $(B)/fuzz/%: $(B)/fuzz/main_%.o $(addprefix $(B)/fuzz/,target_tool.o seam_tool.o seam.o mutate.o mutator.o) \
    $$(B)/lib$$(call room,$$*).a $(B)/libcommon.a
	$(fuzzer)
fuzzers: $(addprefix $(B)/fuzz/,$(filter-out $(GENERATORS),$(TARGETS)) $(if $(filter documents,$(TARGETS)),mutate))
fuzz: all
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null || \
		{ echo "fuzz: needs clang with libFuzzer (Debian: clang, libclang-rt-14-dev)" >&2; exit 1; }
	@$(MAKE) --no-print-directory FUZZ=1 fuzzers TARGETS="$(TARGETS)"
	@bash tests/fuzz/targets.sh $(abspath $(B))/bin build/fuzz/fuzz build/fuzz/work $$(($(MINUTES) * 60 / $(words $(TARGETS)))) $(TARGETS)
$(B)/fuzz/mutate: $(B)/fuzz/mutate_main.o $(B)/fuzz/mutate.o $(B)/libcommon.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
# every pass of every stage proved, on the programs, cases and models of the tests; PROVE="-t cuda FILE …" for others.  And
# miscompilations planted at random, which have to be refuted, and stages that go wrong, which bisect has to name and whose
# cases reduce has to make small; PLANTED="--seed 2 --count 1000"
prove: all
	@SLUICE_BIN=$(abspath $(B))/bin bash pipelines/prove.sh $(or $(PROVE),tests/golden/*.t tests/*.cases tests/models/small/*.onnx)
planted: all
	@python3 tests/planted.py $(abspath $(B))/bin $(PLANTED)
	@python3 tests/culprit.py $(abspath $(B))/bin $(PLANTED)

# random lists of actions, until so many have been taken for each target: LISTS="10000 llvm" or "1000 clang opencl", which is
# what is drawn by default
lists: all
	@BIN=$(abspath $(B))/bin bash tests/lists.sh $(or $(LISTS),1000 clang opencl)

# length of functions, files and lines, to compare with what the project holds to
wc:
	@bash tests/wc.sh

clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: accuracy all bench bench-embedded bench-gpu bench-open bench-quick bench-recurrent bench-training clean conformance deps exports fuzz fuzzers models planted prove test demo install lists rebase uninstall wc
.SECONDARY:
