import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

// Its input ends without a line when the launcher has been killed.
const script = 'read -r line && exit; kill -s "$1" "$2"; kill -s CONT "$2"'

/**
 * Starts a small process that stops a server when the launcher is killed: nothing else would.
 *
 * @returns ends the guard. It must be called as soon as the server has ended, since another process may get its pid
 */
export function startGuard(pid: number, signal: NodeJS.Signals): () => void {
  const args = ['-c', script, 'guard', signal.replace('SIG', ''), `${pid}`]
  const guard = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const { stdin } = guard
  stdin.on('error', () => {})
  guard.on('error', () => {})
  // The guard alone keeps no process alive.
  guard.unref()
  if (stdin instanceof Socket) stdin.unref()
  return () => void stdin.end('ended\n')
}
