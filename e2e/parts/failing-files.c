/*
 * Loaded into a process (LD_PRELOAD): its calls for files below FAILING_FOLDER fail with the error whose number stands
 * in the file FAILING_ERRNO, as long as it has one: EROFS of those that write, EACCES of those that name a path, any other
 * of all.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long (*system_call)(long, ...);

__attribute__((constructor)) static void load(void) {
  system_call = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

/* Calls of this file itself go past what it puts in their place. */
static int current_error(void) {
  const char *file = getenv("FAILING_ERRNO");
  if (file == NULL) return 0;
  int descriptor = system_call(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return 0;
  char text[16] = {0};
  system_call(SYS_read, descriptor, text, sizeof text - 1);
  system_call(SYS_close, descriptor);
  return atoi(text);
}

static int is_below(const char *path) {
  const char *folder = getenv("FAILING_FOLDER");
  return folder != NULL && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(int writes) {
  int error = current_error();
  if (error == 0 || (error == EROFS && !writes)) return 0;
  errno = error;
  return 1;
}

static int fails_at(const char *path, int writes) { return is_below(path) && fails(writes); }


static int fails_in(int descriptor, int writes) {
  int before = errno;
  char link[40], path[PATH_MAX] = {0};
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  system_call(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  errno = before;
  return is_below(path) && current_error() != EACCES && fails(writes);
}

#define INSTEAD(result, name, parameters, arguments, failing) \
  result name parameters {                                    \
    static result(*real) parameters;                          \
    if (real == NULL) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
    return (failing) ? (result)-1 : real arguments;           \
  }

#define OPENS(name, parameters, arguments)                            \
  int name parameters {                                               \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    mode_t mode = va_arg(rest, mode_t);                               \
    va_end(rest);                                                     \
    if (fails_at(path, (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0)) return -1; \
    return system_call arguments;                                     \
  }
OPENS(open, (const char *path, int flags, ...), (SYS_openat, AT_FDCWD, path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (SYS_openat, AT_FDCWD, path, flags, mode))
OPENS(openat, (int at, const char *path, int flags, ...), (SYS_openat, at, path, flags, mode))
OPENS(openat64, (int at, const char *path, int flags, ...), (SYS_openat, at, path, flags, mode))

INSTEAD(ssize_t, pread64, (int f, void *b, size_t n, off64_t o), (f, b, n, o), fails_in(f, 0))
INSTEAD(ssize_t, preadv, (int f, const struct iovec *v, int n, off_t o), (f, v, n, o), fails_in(f, 0))
INSTEAD(ssize_t, read, (int f, void *b, size_t n), (f, b, n), fails_in(f, 0))
INSTEAD(ssize_t, readv, (int f, const struct iovec *v, int n), (f, v, n), fails_in(f, 0))
INSTEAD(ssize_t, pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o), fails_in(f, 1))
INSTEAD(ssize_t, pwritev, (int f, const struct iovec *v, int n, off_t o), (f, v, n, o), fails_in(f, 1))
INSTEAD(ssize_t, write, (int f, const void *b, size_t n), (f, b, n), fails_in(f, 1))
INSTEAD(ssize_t, writev, (int f, const struct iovec *v, int n), (f, v, n), fails_in(f, 1))
INSTEAD(int, fsync, (int f), (f), fails_in(f, 1))
INSTEAD(int, fdatasync, (int f), (f), fails_in(f, 1))
INSTEAD(int, ftruncate64, (int f, off64_t n), (f, n), fails_in(f, 1))
INSTEAD(int, futimens, (int f, const struct timespec t[2]), (f, t), fails_in(f, 1))
INSTEAD(int, utimes, (const char *p, const struct timeval t[2]), (p, t), fails_at(p, 1))
INSTEAD(int, utimensat, (int at, const char *p, const struct timespec t[2], int o), (at, p, t, o), fails_at(p, 1))
INSTEAD(int, mkdir, (const char *p, mode_t m), (p, m), fails_at(p, 1))
INSTEAD(int, rmdir, (const char *p), (p), fails_at(p, 1))
INSTEAD(int, unlink, (const char *p), (p), fails_at(p, 1))
INSTEAD(int, rename, (const char *from, const char *to), (from, to), fails_at(from, 1) || fails_at(to, 1))
INSTEAD(int, access, (const char *p, int m), (p, m), fails_at(p, (m & W_OK) != 0))
INSTEAD(int, statfs64, (const char *p, struct statfs64 *s), (p, s), fails_at(p, 0))
INSTEAD(int, __xstat64, (int v, const char *p, struct stat64 *s), (v, p, s), fails_at(p, 0))
INSTEAD(int, __lxstat64, (int v, const char *p, struct stat64 *s), (v, p, s), fails_at(p, 0))
INSTEAD(int, __fxstat64, (int v, int f, struct stat64 *s), (v, f, s), fails_in(f, 0))

DIR *opendir(const char *path) {
  static DIR *(*real)(const char *);
  if (real == NULL) real = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
  return fails_at(path, 0) ? NULL : real(path);
}

/* libuv asks for statx by its number. */
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_statx) {
    const char *path = (const char *)b;
    if (path != NULL && *path != 0 ? fails_at(path, 0) : fails_in((int)a, 0)) return -1;
  }
  return system_call(number, a, b, c, d, e, f);
}
