import { inheritEnvironment } from '../environment.js'
import { type RunningProcess, runProcess, waitUntilReady } from '../servers/running-process.js'

export interface NodeProcess extends RunningProcess {
  /** The port it listens on, or undefined if it reported none. */
  port: number | undefined
  /** The port of /metrics, or undefined if there is none. */
  metricsPort: number | undefined
}

/** The message that a process of ours sends through its IPC channel once it is ready. */
interface ReadyMessage {
  ready: true
  port?: number
  metricsPort?: number
}

/**
 * Starts one of our own processes and waits for its `process.send({ ready: true, port })`. The process must shut down on
 * SIGTERM and when the channel closes, so that it does not outlive a killed launcher. Of the caller's environment it inherits
 * only what `inheritEnvironment` lists.
 *
 * @param entry path of a JavaScript file
 * @param env added to the environment of this process
 * @throws CannotStart with the end of its log if it ends before it is ready
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
    env: { ...inheritEnvironment(), ...options.env },
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
