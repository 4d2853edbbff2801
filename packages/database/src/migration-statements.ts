import type { AlterTableCmd, Constraint, Node, ParseResult } from 'libpg-query'
import { parse } from 'libpg-query'

/** A statement of a script, as Postgres' own parser reads it. */
export interface MigrationStatement {
  /** Its beginning, for people. */
  text: string
  node: Node
  /** What stands behind `-- exempt:` above it; undefined without such a comment. */
  exemption: string | undefined
}

/** @throws Error with the message of Postgres if it is no SQL */
export async function parseStatements(sql: string): Promise<MigrationStatement[]> {
  const bytes = Buffer.from(sql)
  const { stmts = [] } = (await parse(sql)) as ParseResult
  let end = 0
  return stmts.flatMap(({ stmt, stmt_location: start = 0, stmt_len: length = bytes.length - start }) => {
    const [above, text] = [bytes.subarray(end, start), bytes.subarray(start, start + length)].map(String)
    end = start + length
    if (stmt === undefined) return []
    const exemption = /^\s*-- exempt:(.*)$/m.exec(above ?? '')?.[1]?.trim()
    return [{ text: firstLineOf(text ?? ''), node: stmt, exemption }]
  })
}

/** What a migration may rely on: the new tables of its own script, and what the scripts before it have made. */
export interface KnownSchema {
  newTables: Set<string>
  /** Checks of `column IS NOT NULL` that hold for all rows, by table and column. */
  notNull: Set<string>
  /** Names of CHECKs, which nobody but an INSERT or UPDATE needs. */
  checks: Set<string>
  /** Names of unique indexes, which ON CONFLICT may name. */
  uniqueIndexes: Set<string>
}

export function readKnownSchema(own: MigrationStatement[], earlier: MigrationStatement[]): KnownSchema {
  const known: KnownSchema = {
    newTables: new Set(),
    notNull: new Set(),
    checks: new Set(),
    uniqueIndexes: new Set(),
  }
  // One that may be there is not new.
  for (const { node } of own)
    if ('CreateStmt' in node && !node.CreateStmt.if_not_exists) known.newTables.add(tableOf(node.CreateStmt))
  const columns = new Map<string, string>()
  for (const { node } of earlier) {
    if ('IndexStmt' in node && node.IndexStmt.unique) known.uniqueIndexes.add(node.IndexStmt.idxname ?? '')
    for (const { subtype, name, def } of commandsOf(node)) {
      if (subtype === 'AT_DropConstraint')
        known.notNull.delete(`${tableOfNode(node)} ${columns.get(`${tableOfNode(node)} ${name}`)}`)
      if (subtype === 'AT_ValidateConstraint' && columns.has(`${tableOfNode(node)} ${name}`))
        known.notNull.add(`${tableOfNode(node)} ${columns.get(`${tableOfNode(node)} ${name}`)}`)
      if (subtype !== 'AT_AddConstraint' || def === undefined || !('Constraint' in def)) continue
      const { contype, conname = '' } = def.Constraint
      if (contype !== 'CONSTR_CHECK') continue
      known.checks.add(conname)
      const column = columnThatIsNotNull(def.Constraint)
      if (column !== undefined) columns.set(`${tableOfNode(node)} ${conname}`, column)
    }
  }
  return known
}

export function commandsOf(node: Node): AlterTableCmd[] {
  if (!('AlterTableStmt' in node)) return []
  return (node.AlterTableStmt.cmds ?? []).flatMap((cmd) =>
    'AlterTableCmd' in cmd ? [cmd.AlterTableCmd] : [],
  )
}

/** With its schema, unless that is the one of all others. */
export function tableOf({ relation }: { relation?: { schemaname?: string; relname?: string } }): string {
  const { schemaname = 'public', relname = '' } = relation ?? {}
  return schemaname === 'public' ? relname : `${schemaname}.${relname}`
}

export function tableOfNode(node: Node): string {
  return 'AlterTableStmt' in node ? tableOf(node.AlterTableStmt) : ''
}

function columnThatIsNotNull({ raw_expr: expression }: Constraint): string | undefined {
  if (expression === undefined || !('NullTest' in expression)) return undefined
  const { arg, nulltesttype } = expression.NullTest
  if (nulltesttype !== 'IS_NOT_NULL' || arg === undefined || !('ColumnRef' in arg)) return undefined
  const field = arg.ColumnRef.fields?.[0]
  return field !== undefined && 'String' in field ? field.String.sval : undefined
}

function firstLineOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}
