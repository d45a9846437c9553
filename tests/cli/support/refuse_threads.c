// SPDX-License-Identifier: Apache-2.0
// Preloaded into a tool: the system refuses every thread after the first two, as under a limit of
// processes.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <dlfcn.h>

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  static atomic_int made;
  if (atomic_fetch_add(&made, 1) >= 2) {
    return EAGAIN;
  }
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT,
                                                                                 "pthread_create");
  return create(thread, attributes, start, argument);
}
