import type { Database } from '@automation/database'

/** A step of a plan, as EXPLAIN (FORMAT JSON) shows it. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

/** Runs a statement in its generic plan, that of a statement which is prepared once, and undoes its changes. */
export async function explainGeneric(
  { system }: Pick<Database, 'system'>,
  text: string,
  values: unknown[],
): Promise<PlanNode> {
  let plan: PlanNode | undefined
  const undone = new Error('undone')
  await system
    .$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe('SET LOCAL plan_cache_mode = force_generic_plan')
      await transaction.$executeRawUnsafe(`PREPARE explained AS ${text}`)
      const given = values.length === 0 ? '' : `(${values.map(literalOf).join(', ')})`
      const [row] = await transaction.$queryRawUnsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
        `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE explained${given}`,
      )
      await transaction.$executeRawUnsafe('DEALLOCATE explained')
      plan = row?.['QUERY PLAN'][0]?.Plan
      throw undone
    })
    .catch((error) => {
      if (error !== undone) throw error
    })
  return plan as PlanNode
}

/** Of lists only those of ids and words. */
function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  const text = Array.isArray(value)
    ? `{${value.join()}}`
    : value instanceof Date
      ? value.toISOString()
      : `${value}`
  return `'${text.replaceAll("'", "''")}'`
}

/** All steps of a plan that read the leaves of a table, or it as a whole. */
export function findScans(node: PlanNode, table: string): PlanNode[] {
  const isScan = node['Relation Name'] === table || node['Relation Name']?.startsWith(`${table}_`)
  const own = isScan && node['Node Type'].endsWith('Scan') ? [node] : []
  return [...own, ...(node.Plans ?? []).flatMap((child) => findScans(child, table))]
}
