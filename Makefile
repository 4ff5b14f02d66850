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

ROOMS     = trace schedule fuse render run
TOOLS     = trace simplify schedule fuse lower render render-clang render-opencl render-cuda render-metal \
            compile run show diff match rewrite sluice
VPATH     = trace schedule fuse render run common/tools

MAINS     = $(foreach t,$(TOOLS),$(wildcard $(addsuffix /$(t).c,trace schedule fuse render run common/tools)))
SRCS      = $(wildcard common/*.c $(addsuffix /*.c,$(ROOMS)))
LIBS      = $(B)/libcommon.a $(foreach r,$(ROOMS),$(B)/lib$(r).a)
LDLIBS    = -lmsgpackc -lxxhash -ldl -lpthread -lm
objs      = $(patsubst %.c,$(B)/%.o,$(filter-out $(MAINS),$(wildcard $(1)/*.c)))

all: $(addprefix $(B)/bin/,$(TOOLS))

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Icommon -I$(firstword $(subst /, ,$*)) -I$(B)/gen -MMD -MP -c -o $@ $<

# rule files are compiled in: gen/rules.inc has each as a string
RULES     = $(wildcard common/*.rules $(addsuffix /*.rules,$(ROOMS)))
$(B)/gen/rules.inc: $(RULES) common/embed.sh
	@mkdir -p $(@D)
	sh common/embed.sh $(RULES) > $@.tmp && mv $@.tmp $@
$(B)/common/rules.o: $(B)/gen/rules.inc

.SECONDEXPANSION:
$(B)/lib%.a: $$(call objs,$$*)
	@rm -f $@
	$(AR) rcs $@ $^

# the folder of a tool's main decides which room it is linked with
room      = $(filter $(ROOMS),$(firstword $(subst /, ,$(filter %/$(1).c,$(MAINS)))))
mainobj   = $(patsubst %.c,$(B)/%.o,$(filter %/$(1).c,$(MAINS)))
$(B)/bin/%: $$(call mainobj,$$*) $$(if $$(call room,$$*),$(B)/lib$$(call room,$$*).a) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all clean deps test demo install
.SECONDARY:
