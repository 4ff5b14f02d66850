/* LLVM IR to objects, and these to functions, by LLVM's library.
 *
 *     define void @E_4(…)  →  passes by its class, this machine's processor  →  an object (.o)
 *     an object            →  ORC's LLJIT  →  the address of c0f3c…
 *
 * A unit's kernels become one module. A function is named by its kernel's key in it, so that
 * kernels of one name from anywhere share an object. */
#include "build/build.h"
#include "build/llvm.h"
#include <dlfcn.h>
#include <stdlib.h>

#define LIBRARY "libLLVM-14.so.1"

/* the library and its functions */
#define DECLARE(result, name, params) result (*name) params;
static struct { void *so; LLVM_FUNCTIONS(DECLARE) } llvm;

static void fatal(const char *reason) { die(FAILED, "LLVM: %s", reason); }

/* NULL, or why it is not here */
static const char *library_open(void)
{
	if (llvm.so)
		return NULL;
	void *so = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		return arena_printf("target llvm needs LLVM's library: %s (Debian: apt install "
			"libllvm14)", dlerror());
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define FIND(result, name, params) \
	if (!(llvm.name = (result(*) params)dlsym(so, TEXT(name)))) \
		return LIBRARY " has no function " TEXT(name);
	LLVM_FUNCTIONS(FIND)
	llvm.so = so;
	llvm.LLVM_NATIVE(TargetInfo)();
	llvm.LLVM_NATIVE(Target)();
	llvm.LLVM_NATIVE(TargetMC)();
	llvm.LLVM_NATIVE(AsmPrinter)();
	llvm.LLVMInstallFatalErrorHandler(fatal);
	return NULL;
}

void llvm_offer(void)
{
	library_open();
}

/* ---- what is asked of the library */

/* Passes, and the effort of choosing instructions and registers. */
typedef struct { const char *passes; int level; } Tuning;

/* Kernels with vectors have their invariants hoisted and their long loops written out, so what
 * finds more vectors or unrolls by a factor is left out: loops of a few turns are written out, and
 * the other passes clean up. Brief kernels get what keeps registers out of memory; with no effort
 * for the processor's registers they would take twice as long. */
#define REGISTERS "always-inline,function(sroa,early-cse"
static const Tuning tuning[CLASSES] = {
	{"default<O2>", LLVMCodeGenLevelDefault},
	{REGISTERS "<memssa>,simplifycfg,instcombine,loop-mssa(loop-rotate,licm),"
		"loop(indvars,loop-unroll-full),sroa,early-cse<memssa>,instcombine,"
		"loop-mssa(licm),simplifycfg)", LLVMCodeGenLevelDefault},
	{REGISTERS ")", LLVMCodeGenLevelLess}};
/* for another attempt, when the library does not take a kernel; the last is for --fast-compile too
 */
static const Tuning again[] = {
	{"default<O1>", LLVMCodeGenLevelDefault}, {"default<O0>", LLVMCodeGenLevelNone}};

static const Tuning *tuning_of(KernelClass class, bool fast, int attempt)
{
	return fast ? &again[1] : attempt ? &again[attempt - 1] : &tuning[class];
}

/* "= fadd float" and "= call float" are arithmetic on one number; <8 x float> is a vector's type.
 */
bool llvm_has_vectors(const char *src)
{
	for (const char *at = src; (at = strstr(at, "= "));) {
		bool computes = at[2] == 'f' || at[2] == 'c';
		at += 2 + strcspn(at + 2, " ");
		if (computes && (!strncmp(at, " float", 6) || !strncmp(at, " double", 7)))
			return false;
	}
	for (const char *at = strchr(src, '<'); at; at = strchr(at + 1, '<'))
		if (at[1] >= '1' && at[1] <= '9')
			return true;
	return false;
}

/* ---- for a kernel's key, and for a unit */

Key llvm_key(KernelClass class, bool fast)
{
	const Tuning *t = tuning_of(class, fast, 0);
	Key k = key_adds(key_adds(key_start("llvm 2"), LIBRARY), t->passes);

	return key_processor(key_add(k, &t->level, sizeof t->level));
}

void llvm_unit(Buf *b, const Program *p, const char *key)
{
	const char *part[] = {key, p->name, p->src};

	for (size_t i = 0; i < sizeof part / sizeof *part; i++)
		buf_add(b, part[i], strlen(part[i]) + 1);
}

/* ---- compiling, in a worker */

typedef struct { const char *said; LLVMContextRef context; LLVMTargetMachineRef machine; } Job;

/* Keeps what was said first, on one line. */
static bool failed(Job *j, const char *said)
{
	if (!j->said)
		j->said = arena_printf("%.*s", (int)strcspn(said, "\n"), said);
	return false;
}

static bool passed(Job *j, LLVMErrorRef e)
{
	return !e || failed(j, llvm.LLVMGetErrorMessage(e));
}

static bool rename_function(Job *j, LLVMModuleRef m, const char *name, const char *to, bool inner)
{
	LLVMValueRef f = llvm.LLVMGetNamedFunction(m, name);

	if (!f)
		return failed(j, arena_printf("there is no function %s", name));
	llvm.LLVMSetValueName2(f, to, strlen(to));
	if (inner)
		llvm.LLVMSetLinkage(f, LLVMInternalLinkage);
	return true;
}

/* A kernel's module, NULL when its text is none. */
static LLVMModuleRef module_read(Job *j, const char *key, const char *name, const char *src)
{
	LLVMMemoryBufferRef b = llvm.LLVMCreateMemoryBufferWithMemoryRange(
		src, strlen(src), name, true);
	LLVMModuleRef m;
	char *said = NULL;

	if (llvm.LLVMParseIRInContext(j->context, b, &m, &said) ||
		llvm.LLVMVerifyModule(m, LLVMReturnStatusAction, &said)) {
		failed(j, said);
		return NULL;
	}
	bool found = rename_function(j, m, name, arena_printf("k%s", key), true) &&
		rename_function(j, m, arena_printf("%s_call", name), arena_printf("c%s", key),
			false);
	return found ? m : NULL;
}

/* The processor that the flags name: "-march=…", or this machine's. */
static bool machine_find(Job *j, const char *flags, int level)
{
	const char *march = strstr(flags, "-march="), *cpu, *features = "";
	char *triple = llvm.LLVMGetDefaultTargetTriple(), *said = NULL;
	LLVMTargetRef t;

	if (march) {
		cpu = arena_printf("%.*s", (int)strcspn(march + 7, " "), march + 7);
	} else {
		cpu = llvm.LLVMGetHostCPUName();
		features = llvm.LLVMGetHostCPUFeatures();
	}
	if (llvm.LLVMGetTargetFromTriple(triple, &t, &said))
		return failed(j, said);
	j->machine = llvm.LLVMCreateTargetMachine(t, triple, cpu, features,
		level, LLVMRelocPIC, LLVMCodeModelSmall);
	return j->machine || failed(j, "there is no code for this machine's processor");
}

static bool unit_read(Job *j, const char *at, const char *end, LLVMModuleRef *all)
{
	*all = NULL;
	while (at < end) {
		const char *key = at, *name = key + strlen(key) + 1, *src = name + strlen(name) + 1;
		LLVMModuleRef m = module_read(j, key, name, src);
		if (!m)
			return false;
		if (!*all)
			*all = m;
		else if (llvm.LLVMLinkModules2(*all, m))
			return failed(j, "its kernels are no module together");
		at = src + strlen(src) + 1;
	}
	return true;
}

/* What the worker exits with takes its memory: nothing is freed. */
int llvm_compile(const char *flags, KernelClass class, bool fast, int attempt, const char *unit,
	const char *end, Buf *out)
{
	const Tuning *t = tuning_of(class, fast, attempt);
	Job j = {NULL};
	LLVMModuleRef m;
	LLVMMemoryBufferRef object;
	const char *missing = library_open();
	char *said = NULL;

	if (missing) {
		buf_printf(out, "%s", missing);
		return UNSUPPORTED;
	}
	j.context = llvm.LLVMContextCreate();
	LLVMPassBuilderOptionsRef o = llvm.LLVMCreatePassBuilderOptions();
	llvm.LLVMPassBuilderOptionsSetSLPVectorization(o, true);
	bool good = machine_find(&j, flags, t->level) && unit_read(&j, unit, end, &m);
	if (good) {
		llvm.LLVMSetTarget(m, llvm.LLVMGetDefaultTargetTriple());
		llvm.LLVMSetModuleDataLayout(m, llvm.LLVMCreateTargetDataLayout(j.machine));
	}
	good = good && passed(&j, llvm.LLVMRunPasses(m, t->passes, j.machine, o));
	if (good && llvm.LLVMTargetMachineEmitToMemoryBuffer(
		j.machine, m, LLVMObjectFile, &said, &object))
		good = failed(&j, said);
	if (good)
		buf_add(out, llvm.LLVMGetBufferStart(object), llvm.LLVMGetBufferSize(object));
	else
		buf_printf(out, "%.600s", j.said);
	return good ? DONE : FAILED;
}

/* ---- loading */

static void check(LLVMErrorRef e)
{
	if (e)
		die(FAILED, "LLVM: %s", llvm.LLVMGetErrorMessage(e));
}

void *llvm_load(const char *object, size_t n)
{
	LLVMOrcLLJITRef jit;
	LLVMOrcDefinitionGeneratorRef process;
	const char *missing = library_open();

	if (missing)
		die(UNSUPPORTED, "%s", missing);
	check(llvm.LLVMOrcCreateLLJIT(&jit, NULL));
	LLVMOrcJITDylibRef main = llvm.LLVMOrcLLJITGetMainJITDylib(jit);
	check(llvm.LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
		&process, llvm.LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL));
	llvm.LLVMOrcJITDylibAddGenerator(main, process);
	check(llvm.LLVMOrcLLJITAddObjectFile(jit, main,
		llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(object, n, "object")));
	return jit;
}

void *llvm_function(void *jit, const char *name)
{
	uint64_t address = 0;
	LLVMErrorRef e = llvm.LLVMOrcLLJITLookup(jit, &address, name);

	if (e)
		warn("LLVM: %s", llvm.LLVMGetErrorMessage(e));
	return e ? NULL : (void *)(uintptr_t)address;
}
