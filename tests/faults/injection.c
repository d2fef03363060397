/* Fails one operation on files below a folder: the k-th. Loaded before the C library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_SPACE, IO_ERROR, SHORT, KILL };

static char root[PATH_MAX];
static long count, at;
static int mode, armed;

void fault_arm(const char *folder, long number, int kind)
{
    strncpy(root, folder, sizeof root - 1);
    count = 0;
    at = number;
    mode = kind;
    armed = 1;
}

long fault_count(void)
{
    armed = 0;
    return count;
}

static int below(const char *path)
{
    char here[PATH_MAX];
    if (path[0] != '/')
        return strncmp(path, "..", 2) != 0 && getcwd(here, sizeof here) && below(here);
    return strncmp(path, root, strlen(root)) == 0;
}

static int fd_below(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return below(path);
}

/* Whether this operation is the one to fail; a process that is to be killed does not come back. */
static int comes(int is_below)
{
    return armed && is_below && __sync_add_and_fetch(&count, 1) == at;
}
static int fails(int is_below)
{
    if (!comes(is_below))
        return 0;
    if (mode == KILL)
        kill(getpid(), SIGKILL);
    errno = mode == NO_SPACE ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A process that is to be killed is killed in the middle: half is written. */
#define MOVES(name, ...)                                                        \
    {                                                                           \
        if (!comes(armed && fd_below(fd)))                                      \
            return REAL(name)(__VA_ARGS__);                                     \
        size_t whole = size;                                                    \
        size /= 2;                                                              \
        if (mode == KILL) {                                                     \
            REAL(name)(__VA_ARGS__);                                            \
            kill(getpid(), SIGKILL);                                            \
        }                                                                       \
        if (mode == SHORT && whole >= 2)                                        \
            return REAL(name)(__VA_ARGS__);                                     \
        errno = mode == NO_SPACE ? ENOSPC : EIO;                                \
        return -1;                                                              \
    }

ssize_t write(int fd, const void *data, size_t size) MOVES(write, fd, data, size)
ssize_t pwrite(int fd, const void *data, size_t size, off_t place) MOVES(pwrite, fd, data, size, place)
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place)
MOVES(pwrite64, fd, data, size, place)
ssize_t read(int fd, void *data, size_t size) MOVES(read, fd, data, size)
ssize_t pread(int fd, void *data, size_t size, off_t place) MOVES(pread, fd, data, size, place)
ssize_t pread64(int fd, void *data, size_t size, off64_t place)
MOVES(pread64, fd, data, size, place)

size_t fwrite(const void *data, size_t size, size_t n, FILE *file)
{
    if (fails(armed && fd_below(fileno(file))))
        return mode == SHORT ? REAL(fwrite)(data, size, n / 2, file) : 0;
    return REAL(fwrite)(data, size, n, file);
}

#define ON_FD(name) \
    int name(int fd) { return fails(armed && fd_below(fd)) ? -1 : REAL(name)(fd); }
ON_FD(fsync)
ON_FD(fdatasync)

int ftruncate(int fd, off_t size)
{
    return fails(armed && fd_below(fd)) ? -1 : REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size)
{
    return fails(armed && fd_below(fd)) ? -1 : REAL(ftruncate64)(fd, size);
}

#define ON_PATH(name) \
    int name(const char *path) { return fails(armed && below(path)) ? -1 : REAL(name)(path); }
ON_PATH(unlink)
ON_PATH(rmdir)

int mkdir(const char *path, mode_t rights)
{
    return fails(armed && below(path)) ? -1 : REAL(mkdir)(path, rights);
}
int rename(const char *from, const char *to)
{
    return fails(armed && below(to)) ? -1 : REAL(rename)(from, to);
}

#define OPENS(name)                                                             \
    int name(const char *path, int flags, ...)                                  \
    {                                                                           \
        va_list more;                                                           \
        va_start(more, flags);                                                  \
        mode_t rights = va_arg(more, mode_t);                                   \
        va_end(more);                                                           \
        return fails(armed && below(path)) ? -1 : REAL(name)(path, flags, rights); \
    }
OPENS(open)
OPENS(open64)
