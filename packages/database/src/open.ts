import type { EventEmitter } from 'node:events'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { type Prisma, PrismaClient } from './generated/client.js'

export type WorkspaceDatabase = ReturnType<typeof scopeToWorkspace>
export type Database = ReturnType<typeof openDatabase>
/** What a function given to `$transaction` gets. */
export type WorkspaceTransaction = Parameters<Parameters<WorkspaceDatabase['$transaction']>[0]>[0]

/**
 * Opens one pool and Prisma on top of it. Nothing waits for ever: a connection is had within 2 s and a statement
 * ends within 10 s, also when the server is paused and not just gone.
 *
 * @param url `postgresql://…`
 * @param poolSize connections at most
 */
export function openDatabase(url: string, poolSize: number) {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 2_000,
    query_timeout: 10_000,
    statement_timeout: 10_000,
    keepAlive: true,
    // The pool leaves its idle timers behind when it ends; they must not keep the process.
    allowExitOnIdle: true,
  })
  // An idle connection that breaks is replaced by the next query, which reports the fault if it lasts.
  pool.on('error', () => {})
  pool.on('connect', hideRows)
  const client = new PrismaClient({ adapter: new PrismaPg(pool, { statementNameGenerator: nameStatement }) })
  return {
    /** Sees every workspace: for the workspaces and members themselves, and for the few SQL files that carry a promise. */
    system: client,
    /** The only other way to a tenant's tables: every query carries the workspace. */
    forWorkspace: (workspaceId: string) => scopeToWorkspace(client, workspaceId),
    /**
     * Runs a statement that comes by the thousand, on Prisma's pool but past Prisma, which would write the parameters
     * as JSON twice more and read them once. It is prepared under its name once a connection, so its text must be constant.
     *
     * @returns its rows
     */
    async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
      return (await pool.query<Row>({ name, text, values })).rows
    },
    /** Connections of the pool at this moment; `waiting` are callers for whom there is none. */
    poolUse: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      limit: poolSize,
    }),
    async close(): Promise<void> {
      await client.$disconnect()
      await pool.end()
    },
  }
}

/** Postgres tells the row that it refuses in the details of its error, and errors are logged: whose data it was is kept from there. */
function hideRows(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: EventEmitter }
  connection.prependListener('errorMessage', (error: pg.DatabaseError) => {
    // The names of columns stay: by them Prisma tells which key was there already.
    error.detail = error.detail?.replace(/Failing row contains .*|(?<=^Key \([^)]*\))=.*/s, '')
    error.where = undefined
  })
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
