/* Two libraries: a function, and one that calls it where there is one. */
#define EXPORT __attribute__((visibility("default")))

#ifdef NEEDED
int NEEDED(void);
#endif
EXPORT int NAME(void);
int NAME(void) {
#ifdef NEEDED
    return NEEDED() + 1;
#else
    return 1;
#endif
}
