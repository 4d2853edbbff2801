import { spawn } from 'node:child_process'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryDirectory {
  path: string
  remove(): Promise<void>
}

// Waits for the end of its input, which comes when the launcher ends, even by kill -9. The servers' own guards stop the
// servers then, and a server that is about to end may still write a file.
const guardScript = `
cat > /dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  [ -d "$1" ] || exit
  sleep 1
  rm -rf "$1" 2> /dev/null
done
`

/**
 * Creates a directory for private servers (its `postgres` and `redis`) that does not outlive this process: even if the
 * process is killed, a small guard process removes the directory.
 */
export async function makeTemporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'automation-rules-'))
  // For root, Postgres and Redis run as another user, who must be able to enter.
  if (process.getuid?.() === 0) await chmod(path, 0o711)
  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 10 })
      guard.stdin.end()
    },
  }
}
