import {
  bodyFields,
  type DefinitionField,
  definitionFields,
  keptFields,
  Prisma,
  selectFields,
  type WorkspaceReads,
} from '@automation/database'
import { sizeRules } from '@automation/ledger'
import type { StoredRuleToCheck } from '../../evaluation/check-set.js'
import { readInParts, type SizedRule, type SizedVersion } from './list-by-bytes.js'
import { presentRule, presentVersion, type RuleRow } from './present-rule.js'

/** Conditions and actions of these rows are JSON as Postgres has stored it: to parse and to write that of 16 MiB would hold the event loop for 0.2 s. */
type Texts<Row> = Omit<Row, 'conditions' | 'actions'> & { conditions: string; actions: string }

/** Reads rules, newest first. One that was deleted meanwhile is left out. @returns JSON of each, separated by commas */
export async function writeRules(
  reads: WorkspaceReads,
  workspaceId: string,
  rules: SizedRule[],
): Promise<string> {
  const ids = rules.map(({ id }) => id)
  const rows = await reads.$queryRows<Texts<Omit<RuleRow, 'counters'>>>(Prisma.sql`
    SELECT id, workspace_id AS "workspaceId", ${select(definitionFields)}, is_active AS "isActive", mode, expect_every AS "expectEvery",
           next_run_at AS "nextRunAt", version, created_at AS "createdAt", updated_at AS "updatedAt"
    FROM rules WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${ids}::uuid[]) ORDER BY id DESC`)
  const found = await reads.ruleCounters.findMany({ where: { ruleId: { in: ids } } })
  const counters = new Map(found.map((row) => [row.ruleId, row]))
  return rows.map((row) => write(presentRule({ ...row, counters: counters.get(row.id) ?? null }))).join()
}

/** Reads versions of a rule, the latest first. @returns JSON of each, separated by commas */
export async function writeVersions(
  reads: WorkspaceReads,
  { workspaceId, ruleId }: { workspaceId: string; ruleId: string },
  versions: SizedVersion[],
): Promise<string> {
  const numbers = versions.map(({ version }) => version)
  const rows = await reads.$queryRows<Texts<Parameters<typeof presentVersion>[0]>>(Prisma.sql`
    SELECT version, ${select(definitionFields)}, created_at AS "createdAt", created_by AS "createdBy"
    FROM rule_versions
    WHERE workspace_id = ${workspaceId}::uuid AND rule_id = ${ruleId}::uuid AND version = ANY (${numbers}::int[])
    ORDER BY version DESC`)
  return rows.map((row) => write(presentVersion(row))).join()
}

function select(fields: readonly DefinitionField[]): Prisma.Sql {
  return Prisma.raw(selectFields(fields, { texts: bodyFields }))
}

/** Writes an object whose conditions and actions are JSON already. */
function write(presented: object): string {
  const members = Object.entries(presented).map(([name, value]) => {
    const isJson = bodyFields.some((field) => field === name)
    return `"${name}":${isJson ? value : JSON.stringify(value)}`
  })
  return `{${members.join()}}`
}

/**
 * Reads the definitions of all rules of a workspace, in the order of their creation, a few at a time. To parse them takes the evaluator's time, and not
 * the API's.
 *
 * @param trigger only the active rules for this type
 */
export async function readAllDefinitions(
  reads: WorkspaceReads,
  workspaceId: string,
  trigger?: string,
): Promise<StoredRuleToCheck[]> {
  const narrowing = trigger === undefined ? Prisma.empty : Prisma.sql`AND trigger = ${trigger} AND is_active`
  const sizes = await sizeRules(reads, workspaceId, narrowing)
  const parts = readInParts(sizes.reverse(), (rows) =>
    reads.$queryRows<StoredRuleToCheck>(Prisma.sql`
      SELECT id, ${select(keptFields)}, is_active AS "isActive"
      FROM rules
      WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${rows.map(({ id }) => id)}::uuid[]) ${narrowing} ORDER BY id`),
  )
  const found: StoredRuleToCheck[] = []
  for await (const part of parts) found.push(...part)
  return found
}
