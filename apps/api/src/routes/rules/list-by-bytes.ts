import { setTimeout as delay } from 'node:timers/promises'
import { FairSlots, Prisma, type WorkspaceDatabase } from '@automation/database'
import type { StoredRuleToCheck } from '../../judging/check-set.js'
import type { RuleRow } from './present-rule.js'

/** How many bytes of definitions are in memory for one list, and hold the event loop at a time. One rule alone may have more. */
const maxBytesAtOnce = 262_144
/** How long (ms) a part of a long list may wait for its turn. */
const longestWaitMs = 20_000
/** The same of definitions as texts, which are not parsed. */
const maxTextAtOnce = 524_288
/** How many bytes of definitions a page has: beyond it the page is shorter than its limit. */
const maxBytesOfPage = 4_194_304

export interface Sized {
  bytes: number
}
export type SizedRule = Sized & { id: string }

/** The sizes of rules, newest first. @param ids undefined: all of them */
export function sizeRules(
  reads: WorkspaceDatabase,
  workspaceId: string,
  ids?: string[],
): PromiseLike<SizedRule[]> {
  const narrowing = ids === undefined ? Prisma.empty : Prisma.sql`AND id = ANY (${ids}::uuid[])`
  return reads.$queryRaw<SizedRule[]>(Prisma.sql`
    SELECT id, ${bytesOfDefinition} AS bytes FROM rules
    WHERE workspace_id = ${workspaceId}::uuid ${narrowing} ORDER BY id DESC`)
}

export function sumOf(sizes: Sized[]): number {
  return sizes.reduce((sum, { bytes }) => sum + bytes, 0)
}

const turns = new FairSlots({
  total: 1,
  perOwner: 1,
  waitingPerOwner: Number.POSITIVE_INFINITY,
  timeoutMs: longestWaitMs,
})

/**
 * Reads and writes rows in their order, a few at a time. A row that is deleted meanwhile is left out. In this process the parts of all long lists
 * are made one after another, workspaces in turns, and each leaves the event loop to others for as long as it took.
 *
 * @param make reads these rows, and writes them
 * @throws TooMuchAtOnce where a part does not get its turn in time
 */
export async function* makeInParts<Row extends Sized>(
  workspaceId: string,
  sizes: Row[],
  make: (part: Row[]) => Promise<string>,
): AsyncGenerator<string> {
  const parts = divideByBytes(sizes, maxBytesAtOnce)
  for (const part of parts)
    yield parts.length === 1 ? await make(part) : await turns.run(workspaceId, () => makeAndRest(part, make))
}

async function makeAndRest<Row>(part: Row[], make: (part: Row[]) => Promise<string>): Promise<string> {
  const begunAt = performance.now()
  const text = await make(part)
  await delay(performance.now() - begunAt)
  return text
}

/**
 * Reads the definitions of all rules of a workspace as texts, in the order of their creation, a few at a time. To parse the JSON of a thousand
 * rules takes the judge's time, and not the API's.
 *
 * @param trigger only the active rules for this type
 */
export async function readAllDefinitions(
  reads: WorkspaceDatabase,
  workspaceId: string,
  trigger?: string,
): Promise<StoredRuleToCheck[]> {
  const narrowing = trigger === undefined ? Prisma.empty : Prisma.sql`AND trigger = ${trigger} AND is_active`
  const sizes = await reads.$queryRaw<(Sized & { id: string })[]>(Prisma.sql`
    SELECT id, ${bytesOfDefinition} AS bytes FROM rules WHERE workspace_id = ${workspaceId}::uuid ${narrowing} ORDER BY id`)
  const found: StoredRuleToCheck[] = []
  for (const part of divideByBytes(sizes, maxTextAtOnce)) {
    const rows = await reads.$queryRaw<StoredRuleToCheck[]>(Prisma.sql`
      SELECT id, name, trigger, is_active AS "isActive", conditions::text AS conditions, actions::text AS actions FROM rules
      WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${part.map(({ id }) => id)}::uuid[]) ${narrowing} ORDER BY id`)
    found.push(...rows)
  }
  return found
}

/** As many of the first as a page has. */
export function cutByBytes<Item extends Sized>(sizes: Item[]): Item[] {
  const [page = []] = divideByBytes(sizes, maxBytesOfPage)
  return page
}

/** Finds the numbers of a rule's versions, newest first, as far as a page reaches, and whether there are more. */
export async function findPageOfVersions(
  reads: WorkspaceDatabase,
  { workspaceId, ruleId, below }: { workspaceId: string; ruleId: string; below: number },
  limit: number,
): Promise<{ versions: (Sized & { version: number })[]; isLast: boolean }> {
  const sizes = await reads.$queryRaw<(Sized & { version: number })[]>(Prisma.sql`
    SELECT version, ${bytesOfDefinition} AS bytes FROM rule_versions
    WHERE workspace_id = ${workspaceId}::uuid AND rule_id = ${ruleId}::uuid AND version < ${below}
    ORDER BY version DESC LIMIT ${limit + 1}`)
  const versions = cutByBytes(sizes.slice(0, limit))
  return { versions, isLast: versions.length === sizes.length }
}

const bytesOfDefinition = Prisma.sql`(octet_length(conditions::text) + octet_length(actions::text))::float8`

export function readRules(reads: WorkspaceDatabase, rules: { id: string }[]): Promise<RuleRow[]> {
  return reads.rule.findMany({
    where: { id: { in: rules.map(({ id }) => id) } },
    include: { counters: true },
    orderBy: { id: 'desc' },
  })
}

/** Divides rows into parts of at most this many bytes, or of one row. */
function divideByBytes<Row extends Sized>(rows: Row[], maxBytes: number): Row[][] {
  const parts: Row[][] = []
  let room = 0
  for (const row of rows) {
    if (parts.length === 0 || row.bytes > room) {
      parts.push([])
      room = maxBytes
    }
    parts.at(-1)?.push(row)
    room -= row.bytes
  }
  return parts
}
