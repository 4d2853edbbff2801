import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart } from '../cannot-start.js'
import { findFreePort, isPortFree } from '../servers/ports.js'

const defaultPort = 3000
/** How long (ms) the API of a killed launcher may take to finish its requests in progress. */
const endTimeoutMs = 30_000

/**
 * Chooses the ports of API, board and console from PORT, BOARD_PORT, CONSOLE_PORT and METRICS_PORT. API, worker, board and console each have a port of their
 * own for their metrics, from METRICS_PORT on.
 *
 * @param options.wasKilled whether the API of the last launcher may still be about to end
 * @throws CannotStart if a variable is wrong, or a port is taken
 */
export async function choosePorts(
  variables: NodeJS.ProcessEnv,
  { host, wasKilled }: { host: string; wasKilled: boolean },
): Promise<{ api: number; board: number; console: number }> {
  const api = readPort(variables, 'PORT') ?? defaultPort
  const givenBoard = readPort(variables, 'BOARD_PORT')
  const givenConsole = readPort(variables, 'CONSOLE_PORT')
  const firstOfMetrics = variables.METRICS_PORT === '0' ? undefined : readPort(variables, 'METRICS_PORT')
  const metrics = firstOfMetrics === undefined ? [] : [0, 1, 2, 3].map((index) => firstOfMetrics + index)

  if (wasKilled) await untilPortIsFree(api, host)
  if (!(await isPortFree(api, host))) throw new CannotStart(`Port ${api} is taken; set PORT to another one`)
  for (const port of metrics) {
    if (port === api || port === givenBoard || port === givenConsole || !(await isPortFree(port, host)))
      throw new CannotStart(`Port ${port} is taken; set METRICS_PORT to the first of four free ports`)
  }
  const taken = [api, ...metrics]
  const board = await choose({ given: givenBoard, usual: api + 2, name: 'BOARD_PORT', host, taken })
  const console = await choose({
    given: givenConsole,
    usual: api + 3,
    name: 'CONSOLE_PORT',
    host: '127.0.0.1',
    taken: [...taken, board],
  })
  return { api, board, console }
}

/** Without a given port, any free one will do. @throws CannotStart if the given one is taken */
async function choose(options: {
  given: number | undefined
  usual: number
  name: string
  host: string
  taken: number[]
}): Promise<number> {
  const { given, usual, name, host, taken } = options
  const wanted = given ?? usual
  if (!taken.includes(wanted) && (await isPortFree(wanted, host))) return wanted
  if (given === undefined) return findFreePort()
  throw new CannotStart(`Port ${given} is taken; set ${name} to another one`)
}

function readPort(variables: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = variables[name]
  if (text === undefined || text === '') return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new CannotStart(`${name} is ${text}, but must be a number from 1 to 65535`)
}

async function untilPortIsFree(port: number, host: string): Promise<void> {
  const deadline = performance.now() + endTimeoutMs
  while (!(await isPortFree(port, host)) && performance.now() < deadline) await delay(50)
}
