import { spawn } from 'node:child_process'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryDirectory {
  path: string
  remove(): Promise<void>
}

// Waits for the end of its input, which comes when the launcher ends, in whatever way.
const guardScript = `
cat > /dev/null
for file in "$1/postgres/data/postmaster.pid" "$1/redis/data/redis.pid"; do
  [ -f "$file" ] && kill -INT "$(head -n 1 "$file")"
done
[ -d "$1" ] && sleep 1
rm -rf "$1"
`

/**
 * Creates a directory for private servers (its `postgres` and `redis`) that does not outlive this process: even if the
 * process is killed, a small guard process stops the servers and removes the directory.
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
