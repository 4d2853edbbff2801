import { useModules } from '../entries.js'
import type { BoardSettings, ConsoleSettings, Product } from '../product/product.js'
import type { NodeProcess } from '../product/start-node.js'
import { printLine } from '../progress.js'
import type { Edit } from './edits.js'
import type { LivingParts } from './living-parts.js'

/** Starts the processes again whose programs an edit has changed, on their ports. What does not start, or ends, waits for the next edit. */
export async function restartChanged(
  edit: Edit,
  product: Product,
  pages: { board: BoardSettings; console: ConsoleSettings },
  living: LivingParts,
): Promise<void> {
  if (edit.fault !== undefined) return printLine(`\n${edit.fault}`)
  const starts: Record<string, [parts: NodeProcess[], start: (env: Ports) => Promise<NodeProcess>]> = {
    'apps/api': [product.apis, (env) => product.startApi(env)],
    'apps/worker': [product.workers, ({ METRICS_PORT }) => product.startWorker({ METRICS_PORT })],
    'apps/board': [product.boards, (env) => product.startBoard({ ...env, ...pages.board })],
    'apps/console': [product.consoles, (env) => product.startConsole({ ...env, ...pages.console })],
  }
  useModules()
  for (const program of edit.changed) {
    const [parts, start] = starts[program] ?? []
    const old = parts?.at(-1)
    if (program === 'packages/launcher')
      printLine('The launcher has changed: it does not start itself again.')
    if (old === undefined || start === undefined) continue
    const startedAt = performance.now() - edit.seconds * 1_000
    await living.retire(old)
    try {
      living.follow(await start({ PORT: `${old.port}`, METRICS_PORT: `${old.metricsPort ?? 0}` }))
      printLine(`${old.name} started again: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    } catch (error) {
      printLine((error as Error).message)
    }
  }
}

interface Ports extends Record<string, string> {
  PORT: string
  METRICS_PORT: string
}
