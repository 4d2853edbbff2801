import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { breakOff, openConnections, openReads, openTransactions } from './connections.js'
import { isLockTimeout, isStatementCancelled, ReadTooLong, TransactionTooLong } from './database-errors.js'
import { databaseLimitsOf } from './database-limits.js'
import { type Prisma, PrismaClient } from './generated/client.js'
import { newId } from './ids.js'
import type { PrimaryWatch } from './primary-watch.js'
import { storeJson } from './storable-json.js'

export type WorkspaceDatabase = ReturnType<typeof scopeToWorkspace>
export type Database = ReturnType<typeof openDatabase>
/** The argument of a function that `$transaction` runs. */
export type WorkspaceTransaction = Parameters<Parameters<WorkspaceDatabase['$transaction']>[0]>[0]
/**
 * Raw SQL of a workspace's database. It is not scoped: `forWorkspace` scopes operations on models, and cannot change a statement,
 * so each statement has to name the workspace itself.
 */
export type UnscopedSql = Pick<WorkspaceDatabase, '$queryRaw'>
export type WorkspaceReads = WorkspaceDatabase & UnscopedRows
/** As UnscopedSql, without Prisma on the way back: of a thousand rows it would serialize and parse each value twice. */
export interface UnscopedRows {
  $queryRows<Row extends object>(sql: Pick<Prisma.Sql, 'text' | 'values'>): Promise<Row[]>
}

/** What runs single statements: a database, or one transaction of it. */
export interface Statements {
  run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]>
}

/** So short (ms) that a renewal without a response is repeated before the lease ends. */
const urgentMs = 2_500

/** How many transactions that wait for one another (`transact`) a process has at a time. */
export const keyedTransactions = 5
/** One that is done later (ms) is rolled back. A WAIT counts on that: time ends it when no event from before can be committed any more. */
const longestKeyedMs = 11_000
/**
 * One that stands still is over before another one gives up its lock. Within the transaction, since PgBouncer takes no other way to set them.
 */
const beginKeyedSql = `BEGIN; SET LOCAL lock_timeout = '4s'; SET LOCAL idle_in_transaction_session_timeout = '3s'`

/**
 * Opens the connections to Postgres, with Prisma on top. They are of five kinds, so that no kind waits for another:
 *
 *   statements     single statements of Prisma and `run`, which accept, load and record
 *   transactions   interactive transactions only
 *   keyed          transactions that wait for one another; opened when they are first needed
 *   reads          the queries of tenants, whose work depends on their filters; opened when they are first needed
 *   urgent         one more connection, opened when it is first needed, for statements that must not wait for a free one
 *
 * @param url `postgresql://…`
 * @param poolSize concurrent statements and transactions; a third of them, at least one, is for transactions
 * @param watch refuses servers that are not the primary; without it a standby serves reads
 */
export function openDatabase(
  url: string,
  poolSize: number,
  limits = databaseLimitsOf(poolSize),
  watch?: PrimaryWatch,
) {
  const waits = { ...limits, watch }
  const transactionCount = Math.ceil(poolSize / 3)
  const statements = openConnections(url, Math.max(1, poolSize - transactionCount), waits)
  const transactions = openTransactions(url, transactionCount, statements, waits)
  const keyed = openConnections(url, keyedTransactions, waits)
  const urgent = openConnections(url, 1, { ...waits, statementMs: urgentMs })
  const reads = openReads(url, waits)
  let reader: PrismaClient | undefined
  const pools = [statements, transactions]
  const all = [...pools, keyed, reads, urgent]
  const client = new PrismaClient({
    adapter: storeJson(new PrismaPg(transactions, { statementNameGenerator: nameStatement })),
    transactionOptions: { maxWait: limits.connectMs, timeout: limits.transactionMs },
  })
  const readsOf = (workspaceId: string, takeTurn: TakeTurn = (read) => read()): WorkspaceReads => {
    reader ??= new PrismaClient({ adapter: new PrismaPg(reads) })
    const readInTurn: TakeTurn = (read) => takeTurn(() => readInTime(read))
    const client = scopeToWorkspace(takeTurns(reader, readInTurn), workspaceId).$extends({
      client: {
        $queryRows: ({ text, values }: Pick<Prisma.Sql, 'text' | 'values'>) =>
          readInTurn(async () => (await reads.query({ text, values })).rows),
      },
    })
    return client as unknown as WorkspaceReads
  }
  return {
    limits,
    /** Names the history that Postgres is on (PrimaryWatch): what is remembered by the number of a version, or outside of Postgres, holds within one. */
    generation: () => watch?.generation ?? '',
    /** Reads and writes all workspaces: for workspaces and members themselves, and for jobs that serve all tenants. */
    system: client,
    /** Adds the workspace to every operation on a model. Raw SQL is not scoped: UnscopedSql. */
    forWorkspace: (workspaceId: string) => scopeToWorkspace(client, workspaceId),
    /**
     * The same for a tenant's queries, on connections of their own. One that takes too long fails with ReadTooLong.
     *
     * @param takeTurn runs a read when it is its turn
     */
    readsOf,
    /**
     * Runs a frequent statement without Prisma, which would serialize the parameters as JSON twice more and parse them once. Like
     * all SQL, it is not scoped to a workspace. Each connection prepares it once under its name, so its text must be constant.
     *
     * @returns its rows
     */
    run: <Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
      runOn<Row>(statements, name, text, values),
    /** The same over the urgent connection: for the renewal of leases, which must not wait for a free connection. */
    runUrgent: <Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
      runOn<Row>(urgent, name, text, values),
    /**
     * Runs such statements in one transaction: they are committed together, or none where `work` or the commit fails. It may wait 4 s for a lock, and
     * last 11 s: TransactionTooLong.
     */
    transact: <Result>(work: (statements: Statements) => Promise<Result>): Promise<Result> =>
      transactOn(keyed, work),
    /** The present number of connections for statements and transactions, and of callers that wait for one. */
    poolUse: () => ({
      busy: sumOf(pools, ({ totalCount, idleCount }) => totalCount - idleCount),
      idle: sumOf(pools, ({ idleCount }) => idleCount),
      waiting: sumOf(pools, ({ waitingCount }) => waitingCount),
      limit: sumOf(pools, ({ options }) => options.max),
    }),
    /**
     * Runs first queries of both of Prisma's clients, each on two connections. These take a quarter of a second of CPU each, and the
     * first requests of a process that is ready must not wait for them.
     */
    async warmUp(): Promise<void> {
      const nobody = newId()
      const clients = [scopeToWorkspace(client, nobody), readsOf(nobody)]
      await Promise.all(clients.flatMap((own) => [own.rule.findFirst(), own.rule.findFirst()]))
    },
    /** Ends all connections at once, for a server that responds no more. What waits for it fails with this error, and what comes next opens others. */
    breakOff(error: Error): void {
      for (const pool of all) breakOff(pool, error)
    },
    async close(): Promise<void> {
      await client.$disconnect()
      await reader?.$disconnect()
      await Promise.all(all.map((pool) => pool.end()))
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

async function transactOn<Result>(
  pool: pg.Pool,
  work: (statements: Statements) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect()
  try {
    const startedAt = performance.now()
    await connection.query(beginKeyedSql)
    const result = await work({
      run: async <Row extends object>(name: string, text: string, values: unknown[]) =>
        (await connection.query<Row>({ name, text, values })).rows,
    })
    if (performance.now() - startedAt > longestKeyedMs) throw new TransactionTooLong()
    await connection.query('COMMIT')
    return result
  } catch (error) {
    // A connection on which this fails, too, is not clean, and the pool discards it.
    await connection.query('ROLLBACK').catch(() => {})
    throw isLockTimeout(error) ? new TransactionTooLong() : error
  } finally {
    connection.release()
  }
}

function sumOf(pools: pg.Pool[], read: (pool: pg.Pool) => number): number {
  return pools.reduce((sum, pool) => sum + read(pool), 0)
}

/**
 * Names a statement of Prisma's that begins with a comment of one word. Each connection prepares it once under that name: to plan a
 * statement of the ledger costs as much as to run it for one event. Its text must be constant. All other statements have no name,
 * since the many shapes of Prisma's queries would pile up in the server.
 */
function nameStatement({ sql }: { sql: string }): string {
  const name = sql.startsWith('/*') ? /^\/\* (\w+) \*\//.exec(sql)?.[1] : undefined
  return name as string
}

/** The column that names a row's workspace; null: it is of none. The type requires all models: a new one does not compile until it is listed. */
const workspaceColumn: Record<Prisma.ModelName, 'id' | 'workspaceId' | null> = {
  Workspace: 'id',
  DeletedWorkspace: null,
  Member: 'workspaceId',
  Invitation: 'workspaceId',
  EmbedSession: 'workspaceId',
  Rule: 'workspaceId',
  RuleVersion: 'workspaceId',
  RuleState: 'workspaceId',
  DeletedRuleVersion: 'workspaceId',
  OwnEventType: 'workspaceId',
  Backtest: 'workspaceId',
  RuleCounters: 'workspaceId',
  RuleCrash: 'workspaceId',
  RuleDraft: 'workspaceId',
  RuleGuard: 'workspaceId',
  RuleSilence: 'workspaceId',
  Acknowledgement: 'workspaceId',
  ApiKey: 'workspaceId',
  SigningSecret: 'workspaceId',
  Credential: 'workspaceId',
  WebhookReceipt: 'workspaceId',
  WebhookRejection: 'workspaceId',
  WebhookTally: 'workspaceId',
  AuditEntry: 'workspaceId',
  EmailTemplate: 'workspaceId',
  Subscription: 'workspaceId',
  Erasure: 'workspaceId',
  IdempotencyKey: 'workspaceId',
  Event: 'workspaceId',
  RuleSet: 'workspaceId',
  Execution: 'workspaceId',
  Cancellation: 'workspaceId',
  EventKey: 'workspaceId',
  KeyClaim: 'workspaceId',
  Task: 'workspaceId',
  OperatorKey: null,
  Sweep: null,
  Restore: null,
}

/** Runs a read when it is its turn. */
export type TakeTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

/** Queries wait here for their turn, and not for a connection. */
function takeTurns(client: PrismaClient, takeTurn: TakeTurn): PrismaClient {
  return client.$extends({
    query: { $allOperations: ({ args, query }) => takeTurn(() => query(args)) },
  }) as unknown as PrismaClient
}

async function readInTime<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw isStatementCancelled(error) ? new ReadTooLong() : error
  }
}

function scopeToWorkspace(client: PrismaClient, workspaceId: string) {
  return client.$extends({
    query: {
      $allModels: {
        $allOperations({ model, operation, args, query }) {
          const column = workspaceColumn[model]
          if (column === null) throw new Error(`${model} is of no workspace`)
          return query(scopeArguments(operation, args, { [column]: workspaceId }))
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
