import { format } from 'node:util'
import { pino } from 'pino'
import { logOptions } from './log-options.js'

const levels = {
  debug: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
  trace: 'trace',
} as const

/**
 * Makes log lines of what libraries write to the console, and of Node's warnings. For the start of a process: it replaces the console.
 *
 * @param name that of the process
 */
export function logLibraries(name: string, level: string): void {
  const { stream, ...options } = logOptions(name, level)
  const log = pino(options, stream)
  for (const method of Object.keys(levels) as (keyof typeof levels)[])
    console[method] = (...parts: unknown[]) => log[levels[method]](format(...parts))
  process
    .removeAllListeners('warning')
    .on('warning', (warning) => log.warn({ err: warning }, warning.message))
}
