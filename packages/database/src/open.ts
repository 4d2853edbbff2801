import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { openConnections, openTransactions } from './connections.js'
import { type Prisma, PrismaClient } from './generated/client.js'

export type WorkspaceDatabase = ReturnType<typeof scopeToWorkspace>
export type Database = ReturnType<typeof openDatabase>
/** What a function given to `$transaction` gets. */
export type WorkspaceTransaction = Parameters<Parameters<WorkspaceDatabase['$transaction']>[0]>[0]

/** So short (ms) that a renewal over a mute line is tried again before the lease ends. */
const urgentMs = 2_500

/**
 * Opens the connections to Postgres, and Prisma on top of them. They are of three kinds, so that nobody waits for the others:
 *
 *   statements     single statements, Prisma's and those of `run`: what is accepted, loaded and recorded
 *   transactions   interactive transactions, and nothing else
 *   urgent         one more, opened when it is first needed: what must not wait for a free connection
 *
 * @param url `postgresql://…`
 * @param poolSize statements and transactions at a time; a third of them, at least one, is for transactions
 */
export function openDatabase(url: string, poolSize: number) {
  const transactionCount = Math.ceil(poolSize / 3)
  const statements = openConnections(url, Math.max(1, poolSize - transactionCount))
  const transactions = openTransactions(url, transactionCount, statements)
  const urgent = openConnections(url, 1, urgentMs)
  const pools = [statements, transactions]
  const client = new PrismaClient({
    adapter: new PrismaPg(transactions, { statementNameGenerator: nameStatement }),
  })
  return {
    /** Sees every workspace: for the workspaces and members themselves, and for the few SQL files that carry a promise. */
    system: client,
    /** The only other way to a tenant's tables: every query carries the workspace. */
    forWorkspace: (workspaceId: string) => scopeToWorkspace(client, workspaceId),
    /**
     * Runs a statement that comes by the thousand past Prisma, which would write the parameters as JSON twice more and read
     * them once. It is prepared under its name once a connection, so its text must be constant.
     *
     * @returns its rows
     */
    run: <Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
      runOn<Row>(statements, name, text, values),
    /** The same on a connection that nothing else uses: for a sign of life, which must not wait for a free one. */
    runUrgent: <Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
      runOn<Row>(urgent, name, text, values),
    /** Connections for statements and transactions at this moment; `waiting` are callers for whom there is none. */
    poolUse: () => ({
      busy: sumOf(pools, ({ totalCount, idleCount }) => totalCount - idleCount),
      idle: sumOf(pools, ({ idleCount }) => idleCount),
      waiting: sumOf(pools, ({ waitingCount }) => waitingCount),
      limit: sumOf(pools, ({ options }) => options.max),
    }),
    async close(): Promise<void> {
      await client.$disconnect()
      await Promise.all([...pools, urgent].map((pool) => pool.end()))
    },
  }
}

async function runOn<Row extends object>(
  pool: pg.Pool,
  name: string,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  return (await pool.query<Row>({ name, text, values })).rows
}

function sumOf(pools: pg.Pool[], read: (pool: pg.Pool) => number): number {
  return pools.reduce((sum, pool) => sum + read(pool), 0)
}

/**
 * A statement of Prisma's that begins with a comment of one word is prepared under that name, once a connection:
 * planning the ledger's costs as much as running it for one event. Its text must be constant. All other SQL goes
 * unnamed, or the many shapes of Prisma's queries would pile up in the server.
 */
function nameStatement({ sql }: { sql: string }): string {
  const name = sql.startsWith('/*') ? /^\/\* (\w+) \*\//.exec(sql)?.[1] : undefined
  return name as string
}

/** The column that says whose row it is. Total by type: a new model does not compile until it is listed. */
const workspaceColumn: Record<Prisma.ModelName, 'id' | 'workspaceId'> = {
  Workspace: 'id',
  Member: 'workspaceId',
  Rule: 'workspaceId',
  RuleVersion: 'workspaceId',
  RuleCounters: 'workspaceId',
  ApiKey: 'workspaceId',
  SigningSecret: 'workspaceId',
  WebhookReceipt: 'workspaceId',
  WebhookRejection: 'workspaceId',
  WebhookTally: 'workspaceId',
  AuditEntry: 'workspaceId',
  EmailTemplate: 'workspaceId',
  Subscription: 'workspaceId',
  IdempotencyKey: 'workspaceId',
  Event: 'workspaceId',
  RuleSet: 'workspaceId',
  Execution: 'workspaceId',
  Task: 'workspaceId',
}

function scopeToWorkspace(client: PrismaClient, workspaceId: string) {
  return client.$extends({
    query: {
      $allModels: {
        $allOperations({ model, operation, args, query }) {
          return query(scopeArguments(operation, args, { [workspaceColumn[model]]: workspaceId }))
        },
      },
    },
  })
}

function scopeArguments<Arguments>(
  operation: string,
  args: Arguments,
  owner: Record<string, string>,
): Arguments {
  const { where, data, create, ...rest } = args as Record<string, unknown>
  if (operation === 'upsert')
    return { ...rest, where: within(where, owner), create: within(create, owner) } as Arguments
  if (operation.startsWith('create')) {
    const owned = Array.isArray(data) ? data.map((row) => within(row, owner)) : within(data, owner)
    return { ...rest, data: owned } as Arguments
  }
  return { ...rest, ...(data === undefined ? {} : { data }), where: within(where, owner) } as Arguments
}

function within(part: unknown, owner: Record<string, string>): object {
  return { ...(part as object | undefined), ...owner }
}
