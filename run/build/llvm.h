/* The part of LLVM's C interface that run uses. It is declared here so that building needs neither
 * LLVM's headers nor its library, which is loaded at run time. Types, names and values follow those
 * of llvm-c of LLVM 14. */
#ifndef RUN_BUILD_LLVM_H
#define RUN_BUILD_LLVM_H
#include <stddef.h>
#include <stdint.h>

typedef int LLVMBool;
typedef struct LLVMOpaqueContext *LLVMContextRef;
typedef struct LLVMOpaqueModule *LLVMModuleRef;
typedef struct LLVMOpaqueValue *LLVMValueRef;
typedef struct LLVMOpaqueMemoryBuffer *LLVMMemoryBufferRef;
typedef struct LLVMOpaqueError *LLVMErrorRef;
typedef struct LLVMTarget *LLVMTargetRef;
typedef struct LLVMOpaqueTargetMachine *LLVMTargetMachineRef;
typedef struct LLVMOpaqueTargetData *LLVMTargetDataRef;
typedef struct LLVMOpaquePassBuilderOptions *LLVMPassBuilderOptionsRef;
typedef struct LLVMOrcOpaqueLLJIT *LLVMOrcLLJITRef;
typedef struct LLVMOrcOpaqueLLJITBuilder *LLVMOrcLLJITBuilderRef;
typedef struct LLVMOrcOpaqueJITDylib *LLVMOrcJITDylibRef;
typedef struct LLVMOrcOpaqueDefinitionGenerator *LLVMOrcDefinitionGeneratorRef;
enum { LLVMInternalLinkage = 8, LLVMReturnStatusAction = 2, LLVMObjectFile = 1 };
enum { LLVMRelocPIC = 2, LLVMCodeModelSmall = 3 };
enum { LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault };

/* the library's parts for this machine's processor */
#if defined __x86_64__
#define LLVM_NATIVE(what) LLVMInitializeX86##what
#else
#define LLVM_NATIVE(what) LLVMInitializeAArch64##what
#endif

/* F(result, name in the library, parameters) */
#define LLVM_FUNCTIONS(F) \
	F(void, LLVM_NATIVE(TargetInfo), (void)) \
	F(void, LLVM_NATIVE(Target), (void)) \
	F(void, LLVM_NATIVE(TargetMC), (void)) \
	F(void, LLVM_NATIVE(AsmPrinter), (void)) \
	F(void, LLVMInstallFatalErrorHandler, (void (*handler)(const char *reason))) \
	F(void, LLVMDisposeMessage, (char *s)) \
	F(char *, LLVMGetErrorMessage, (LLVMErrorRef e)) \
	F(void, LLVMDisposeErrorMessage, (char *s)) \
	F(LLVMContextRef, LLVMContextCreate, (void)) \
	F(LLVMMemoryBufferRef, LLVMCreateMemoryBufferWithMemoryRange, \
		(const char *p, size_t n, const char *name, LLVMBool nul)) \
	F(LLVMMemoryBufferRef, LLVMCreateMemoryBufferWithMemoryRangeCopy, \
		(const char *p, size_t n, const char *name)) \
	F(const char *, LLVMGetBufferStart, (LLVMMemoryBufferRef b)) \
	F(size_t, LLVMGetBufferSize, (LLVMMemoryBufferRef b)) \
	F(LLVMBool, LLVMParseIRInContext, \
		(LLVMContextRef c, LLVMMemoryBufferRef b, LLVMModuleRef *m, char **said)) \
	F(LLVMBool, LLVMLinkModules2, (LLVMModuleRef to, LLVMModuleRef from)) \
	F(LLVMBool, LLVMVerifyModule, (LLVMModuleRef m, int action, char **said)) \
	F(LLVMValueRef, LLVMGetNamedFunction, (LLVMModuleRef m, const char *name)) \
	F(void, LLVMSetValueName2, (LLVMValueRef v, const char *name, size_t n)) \
	F(void, LLVMSetLinkage, (LLVMValueRef v, int linkage)) \
	F(void, LLVMSetTarget, (LLVMModuleRef m, const char *triple)) \
	F(void, LLVMSetModuleDataLayout, (LLVMModuleRef m, LLVMTargetDataRef d)) \
	F(char *, LLVMGetDefaultTargetTriple, (void)) \
	F(char *, LLVMGetHostCPUName, (void)) \
	F(char *, LLVMGetHostCPUFeatures, (void)) \
	F(LLVMBool, LLVMGetTargetFromTriple, \
		(const char *triple, LLVMTargetRef *t, char **said)) \
	F(LLVMTargetMachineRef, LLVMCreateTargetMachine, \
		(LLVMTargetRef t, const char *triple, const char *cpu, const char *features, \
			int level, int reloc, int model)) \
	F(LLVMTargetDataRef, LLVMCreateTargetDataLayout, (LLVMTargetMachineRef t)) \
	F(LLVMPassBuilderOptionsRef, LLVMCreatePassBuilderOptions, (void)) \
	F(void, LLVMPassBuilderOptionsSetSLPVectorization, \
		(LLVMPassBuilderOptionsRef o, LLVMBool on)) \
	F(LLVMErrorRef, LLVMRunPasses, \
		(LLVMModuleRef m, const char *passes, LLVMTargetMachineRef t, \
			LLVMPassBuilderOptionsRef o)) \
	F(LLVMBool, LLVMTargetMachineEmitToMemoryBuffer, \
		(LLVMTargetMachineRef t, LLVMModuleRef m, int type, char **said, \
			LLVMMemoryBufferRef *b)) \
	F(LLVMErrorRef, LLVMOrcCreateLLJIT, (LLVMOrcLLJITRef *j, LLVMOrcLLJITBuilderRef b)) \
	F(LLVMOrcJITDylibRef, LLVMOrcLLJITGetMainJITDylib, (LLVMOrcLLJITRef j)) \
	F(char, LLVMOrcLLJITGetGlobalPrefix, (LLVMOrcLLJITRef j)) \
	F(LLVMErrorRef, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess, \
		(LLVMOrcDefinitionGeneratorRef *g, char prefix, void *filter, void *ctx)) \
	F(void, LLVMOrcJITDylibAddGenerator, \
		(LLVMOrcJITDylibRef d, LLVMOrcDefinitionGeneratorRef g)) \
	F(LLVMErrorRef, LLVMOrcLLJITAddObjectFile, \
		(LLVMOrcLLJITRef j, LLVMOrcJITDylibRef d, LLVMMemoryBufferRef b)) \
	F(LLVMErrorRef, LLVMOrcLLJITLookup, \
		(LLVMOrcLLJITRef j, uint64_t *address, const char *name))
#endif
