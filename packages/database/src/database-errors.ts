import { Prisma } from './generated/client.js'

/** True where Postgres refused the data itself (SQLSTATE classes 22 and 23): trying the same row again cannot help. */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '')
}

/** True where Postgres was away, too busy to answer, or going down: the same call may work in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  const code = error instanceof Prisma.PrismaClientKnownRequestError ? error.code : undefined
  if (code !== undefined && awayCodes.has(code)) return true
  const state = sqlState(error)
  if (state !== undefined) return /^(08|53|57P0|25006)/.test(state)
  return error instanceof Error && awayMessage.test(error.message)
}

/** True for P2025: the row to change is not there. */
export function isRowMissing(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025'
}

/** True where two transactions took the same locks in another order, or a serial order was broken. */
export function isLockConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '')
}

// P1xxx: cannot reach, timed out, closed. P2024/P2028: no connection from the pool, transaction not begun in time.
const awayCodes = new Set(['P1000', 'P1001', 'P1002', 'P1008', 'P1010', 'P1017', 'P2024', 'P2028'])
const awayMessage =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|ECONNREFUSED|ECONNRESET|EPIPE|server closed the connection/i

/** The five characters Postgres gives with each error, wherever Prisma has put them. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined
  const cause = (error.meta?.driverAdapterError as { cause?: { originalCode?: unknown } } | undefined)?.cause
  return typeof cause?.originalCode === 'string' ? cause.originalCode : undefined
}
