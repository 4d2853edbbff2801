// Plain JavaScript without packages: scripts/bootstrap.mjs uses it before anything is installed or built.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

const perl = 'open(my $f, "+<&=", 3) or exit 2; exit(flock($f, $ARGV[0] | 4) ? 0 : $!{EWOULDBLOCK} ? 1 : 2)'
const busy = 1

/**
 * Locks a file (flock), and creates it if it is missing. The kernel keeps the lock as long as any process has this descriptor:
 * one process of one container can win it, and it ends with that process, even by kill -9.
 *
 * Node has no such call. A short-lived program takes the lock on a descriptor that it shares with this process: `flock`, which
 * every Linux has, or else Perl, which macOS has.
 *
 * @param {string} file
 * @param {'exclusive' | 'shared'} kind
 * @returns {number | undefined} the descriptor: closing it unlocks the file; undefined if another process has the lock
 * @throws if the file cannot be made
 */
export function tryLock(file, kind) {
  const descriptor = openSync(file, 'a+', 0o600)
  const programs = [
    ['flock', '-n', kind === 'shared' ? '-s' : '-x', '3'],
    ['perl', '-MErrno', '-e', perl, kind === 'shared' ? '1' : '2'],
  ]
  for (const [command, ...args] of programs) {
    const { status, error, stderr } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'pipe', descriptor],
      encoding: 'utf8',
    })
    if (error?.code === 'ENOENT') continue
    if (status === 0) return descriptor
    if (status !== busy) return goOnWithout(descriptor, file, error?.message ?? stderr.trim())
    closeSync(descriptor)
    return undefined
  }
  return goOnWithout(descriptor, file, 'neither flock (of util-linux) nor perl is on the PATH')
}

let isReported = false

/** Some file systems know no locks: the product runs there, too. */
function goOnWithout(descriptor, file, reason) {
  if (!isReported) console.error(`${file} cannot be locked (${reason}): do not start the product twice`)
  isReported = true
  return descriptor
}
