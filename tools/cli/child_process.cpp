// SPDX-License-Identifier: Apache-2.0
#include "cli/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace netcl::cli {

namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t child_id = 0;

extern "C" void forward_signal(int number) {
  const int saved = errno;
  if (child_id != 0) {
    ::kill(child_id, number);
    ::kill(child_id, SIGCONT);  // a stopped child would not see it
  }
  errno = saved;
}

sigset_t forwarded_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kForwarded) {
    ::sigaddset(&set, number);
  }
  return set;
}

void install_forwarding() {
  struct sigaction forwarding {};
  forwarding.sa_handler = forward_signal;
  ::sigemptyset(&forwarding.sa_mask);
  for (const int number : kForwarded) {
    struct sigaction previous {};
    // A signal that is ignored from outside stays ignored, here as in the child.
    if (::sigaction(number, nullptr, &previous) == 0 && previous.sa_handler != SIG_IGN) {
      ::sigaction(number, &forwarding, nullptr);
    }
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw base::DeviceError(std::string("cannot wait for the device's process: ") +
                              std::strerror(errno));
    }
  }
  return status;
}

bool is_forwarded(int number) {
  for (const int one : kForwarded) {
    if (one == number) {
      return true;
    }
  }
  return false;
}

}  // namespace

int run_in_child(const std::function<int()>& work, const std::string& what,
                 const std::string& hint) {
  base::share_temporary_names();
  const pid_t parent = ::getpid();
  // Held back until both processes have their handlers.
  const sigset_t held = forwarded_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &held, &before);
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    throw base::DeviceError(what + ": cannot start a process: " + std::strerror(error));
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would wait for the results
    if (::getppid() != parent) {
      ::_exit(128 + SIGTERM);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    std::exit(work());
  }
  child_id = child;
  install_forwarding();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  const int status = wait_for(child);
  child_id = 0;
  if (WIFEXITED(status)) {
    return WEXITSTATUS(status);
  }
  const int number = WTERMSIG(status);
  base::remove_temporary_files();
  if (is_forwarded(number) || number == SIGPIPE) {
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
  throw base::DeviceError(
      what + " ended by signal " + std::to_string(number) + " (" + ::strsignal(number) + "); " +
      (number == SIGKILL ? "the system does that when memory or a limit of processor time runs out"
                         : hint));
}

}  // namespace netcl::cli
