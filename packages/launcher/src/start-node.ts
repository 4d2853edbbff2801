import { type RunningProcess, runProcess, waitUntilReady } from './running-process.js'

export interface NodeProcess extends RunningProcess {
  /** What it listens on; undefined where it told none. */
  port: number | undefined
  /** Where it answers /metrics; undefined where it does not. */
  metricsPort: number | undefined
}

/** What a process of ours says through its IPC channel once it serves. */
interface ReadyMessage {
  ready: true
  port?: number
  metricsPort?: number
}

/**
 * Starts one of our own processes and waits for its `process.send({ ready: true, port })`. It has to shut down on
 * SIGTERM, and when the channel closes: so it does not outlive a launcher that was killed.
 *
 * @param entry path of a JavaScript file
 * @param env added to this process's own
 * @throws CannotStart with the end of its log when it ends before it is ready
 */
export async function startNode(options: {
  name: string
  entry: string
  env: Record<string, string>
  log: string
}): Promise<NodeProcess> {
  const { child, running } = await runProcess({
    name: options.name,
    command: process.execPath,
    args: [options.entry],
    env: { ...process.env, ...options.env },
    log: options.log,
    channel: true,
  })
  let message: ReadyMessage | undefined
  child.on('message', (received) => {
    if (isReadyMessage(received)) message = received
  })
  await waitUntilReady(running, async () => message !== undefined)
  return { ...running, port: message?.port, metricsPort: message?.metricsPort }
}

function isReadyMessage(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'ready' in message && message.ready === true
}
