import type { AlterTableCmd, ColumnDef, Constraint, Node } from 'libpg-query'
import {
  commandsOf,
  type KnownSchema,
  type MigrationStatement,
  parseStatements,
  readKnownSchema,
  tableOf,
  tableOfNode,
} from './migration-statements.js'

/** What a statement does to those who work on the tables meanwhile. */
interface Judgement {
  /** Why it does not fit beside the previous version under load; undefined where it does. */
  fault?: string | undefined
  /** Waits for a lock on a table that is in use, so that later queries wait behind it. */
  waits?: boolean
  /** Cannot be part of a transaction. */
  isAside?: boolean
}

/**
 * Finds what breaks the rules of docs/operate/upgrade.md in the SQL of a migration. What is not known to be harmless is a fault. A comment
 * `-- exempt: <reason>` above a statement exempts it.
 *
 * @param earlier the scripts before it, oldest first
 * @returns a sentence for each fault, which begins with the statement
 * @throws Error with the message of Postgres if it is no SQL
 */
export async function findMigrationFaults(sql: string, earlier: string[] = []): Promise<string[]> {
  const statements = await parseStatements(sql)
  const before = (await Promise.all(earlier.map(parseStatements))).flat()
  const known = readKnownSchema(statements, before)
  const judged = statements.map((statement) => ({ statement, ...judge(statement.node, known) }))
  return judged.flatMap(({ statement, fault, waits, isAside }, index) => {
    const faults = fault === undefined ? [] : [fault]
    if (isAside && statements.length > 1) faults.push('is not alone in its migration')
    if (waits && (index === 0 || !isLockTimeout(statements[0]?.node)))
      faults.push(`waits for a lock without an end: SET lock_timeout = '1s' comes first`)
    if (waits && statements.length > 2)
      faults.push('waits for a lock and is not the only statement that follows SET')
    return exempt(statement, faults).map((one) => `${statement.text}: ${one}`)
  })
}

function exempt({ exemption }: MigrationStatement, faults: string[]): string[] {
  if (exemption === undefined) return faults
  if (exemption === '') return [...faults, 'its exemption has no reason']
  return faults.length > 0 ? [] : ['needs no exemption']
}

const breaksPrevious = 'removes or renames what the previous version may use'
const locksParent = 'waits for all who use the table that it becomes a part of'
const changesRows = 'changes rows, which the new version does in batches'

function judge(node: Node, known: KnownSchema): Judgement {
  if ('AlterTableStmt' in node) return judgeAlter(node, known)
  if ('CreateStmt' in node) return judgeCreate(node.CreateStmt, known)
  if ('IndexStmt' in node) {
    if (node.IndexStmt.concurrent) return { isAside: true }
    const isNew = known.newTables.has(tableOf(node.IndexStmt))
    return {
      fault: isNew ? undefined : 'holds up all who write, while it is built: CREATE INDEX CONCURRENTLY',
    }
  }
  if ('DropStmt' in node) return judgeDrop(node.DropStmt, known)
  if ('RenameStmt' in node) return { fault: breaksPrevious, waits: true }
  if ('AlterEnumStmt' in node) return { fault: 'may add a value that the previous version cannot read' }
  if (['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'TruncateStmt', 'MergeStmt'].some((kind) => kind in node))
    return { fault: changesRows }
  if (isLockTimeout(node) || 'CreateEnumStmt' in node || 'CommentStmt' in node) return {}
  return { fault: 'is not known to leave the work beside it alone' }
}

function judgeCreate(
  { tableElts, inhRelations = [] }: Extract<Node, { CreateStmt: unknown }>['CreateStmt'],
  known: KnownSchema,
): Judgement {
  const parents = inhRelations.flatMap((one) =>
    'RangeVar' in one ? [tableOf({ relation: one.RangeVar })] : [],
  )
  const fault = parents.every((parent) => known.newTables.has(parent)) ? undefined : locksParent
  return { fault, waits: fault !== undefined || referencesOthers(tableElts ?? [], known) }
}

function judgeDrop(
  { removeType, concurrent, objects = [] }: Extract<Node, { DropStmt: unknown }>['DropStmt'],
  known: KnownSchema,
): Judgement {
  if (removeType !== 'OBJECT_INDEX') return { fault: breaksPrevious, waits: removeType === 'OBJECT_TABLE' }
  const names = JSON.stringify(objects)
  const isUnique = [...known.uniqueIndexes].some((name) => names.includes(`"${name}"`))
  const fault = isUnique ? `${breaksPrevious} (ON CONFLICT)` : undefined
  return concurrent
    ? { fault, isAside: true }
    : { fault: fault ?? 'waits for all who use the table: DROP INDEX CONCURRENTLY', waits: true }
}

function judgeAlter(node: Extract<Node, { AlterTableStmt: unknown }>, known: KnownSchema): Judgement {
  const commands = commandsOf(node)
  const table = tableOfNode(node)
  if (node.AlterTableStmt.objtype !== 'OBJECT_TABLE' || commands.length === 0)
    return { fault: 'is not known to leave the work beside it alone' }
  if (known.newTables.has(table))
    return { waits: commands.some(({ def }) => referencesOthers(def ? [def] : [], known)) }
  const faults = commands.flatMap((command) => findCommandFault(command, table, known) ?? [])
  const [has, all] = (['some', 'every'] as const).map((how) =>
    commands[how](({ subtype }) => subtype === 'AT_ValidateConstraint'),
  )
  // It lets rows be read and written while it reads them, unless it shares the lock of another command.
  const isOnlyValidation = all
  if (has && !all)
    faults.push('reads all rows under the lock of the other commands: VALIDATE CONSTRAINT alone')
  // Postgres drops first, whatever stands first.
  const drops = commands.some(({ subtype }) => subtype === 'AT_DropConstraint')
  if (drops && commands.some(({ subtype }) => subtype === 'AT_SetNotNull'))
    faults.push(
      'reads all rows under a lock: the check that SET NOT NULL relies on goes in a later migration',
    )
  return { fault: faults[0], waits: !isOnlyValidation }
}

function findCommandFault(
  { subtype, name, def }: AlterTableCmd,
  table: string,
  known: KnownSchema,
): string | undefined {
  switch (subtype) {
    case 'AT_AddColumn':
      return def !== undefined && 'ColumnDef' in def ? findColumnFault(def.ColumnDef) : undefined
    case 'AT_AddConstraint':
      return def !== undefined && 'Constraint' in def ? findConstraintFault(def.Constraint) : undefined
    case 'AT_SetNotNull':
      if (known.notNull.has(`${table} ${name}`)) return undefined
      return 'reads all rows under a lock, unless an earlier migration has added CHECK (… IS NOT NULL) NOT VALID, and another has validated it'
    case 'AT_ColumnDefault':
      return def === undefined ? 'takes a default from what the previous version inserts' : undefined
    case 'AT_DropConstraint':
      return known.checks.has(name ?? '') ? undefined : breaksPrevious
    case 'AT_AlterColumnType':
      return 'may rewrite the table and its indexes under a lock'
    case 'AT_DropColumn':
      return breaksPrevious
    case 'AT_DropNotNull':
      return 'lets in a null that the previous version cannot read'
    case 'AT_ValidateConstraint':
    case 'AT_SetStatistics':
    case 'AT_SetRelOptions':
      return undefined
    default:
      return 'is not known to leave the work beside it alone'
  }
}

function findColumnFault({ typeName, constraints = [] }: ColumnDef): string | undefined {
  const rewrites = 'rewrites the table under a lock: a new column is empty, or has a constant default'
  if (/"(small|big)?serial[248]?"/.test(JSON.stringify(typeName))) return rewrites
  const kinds = new Map(
    constraints.flatMap((one) => ('Constraint' in one ? [[one.Constraint.contype, one.Constraint]] : [])),
  )
  for (const [kind, { raw_expr: value }] of kinds) {
    if (kind === 'CONSTR_NULL' || kind === 'CONSTR_NOTNULL') continue
    if (kind !== 'CONSTR_DEFAULT' && kind !== 'CONSTR_GENERATED' && kind !== 'CONSTR_IDENTITY')
      return 'reads all rows under a lock: the constraint of a new column is added after it, NOT VALID'
    if (kind !== 'CONSTR_DEFAULT' || !isConstant(value)) return rewrites
  }
  if (kinds.has('CONSTR_NOTNULL') && !kinds.has('CONSTR_DEFAULT'))
    return 'refuses what the previous version inserts, and the rows that are there: NOT NULL needs a constant default'
  return undefined
}

/** Postgres stores it once for all rows that are there. */
function isConstant(value: Node | undefined): boolean {
  if (value === undefined) return true
  if ('TypeCast' in value) return isConstant(value.TypeCast.arg)
  if ('A_ArrayExpr' in value) return (value.A_ArrayExpr.elements ?? []).every(isConstant)
  // Of the transaction, and so one for all rows.
  if ('SQLValueFunction' in value)
    return value.SQLValueFunction.op?.startsWith('SVFOP_CURRENT_TIMESTAMP') ?? false
  return 'A_Const' in value
}

function findConstraintFault({
  contype,
  skip_validation: isNotValid,
  indexname,
}: Constraint): string | undefined {
  if (contype === 'CONSTR_UNIQUE' && indexname !== undefined) return undefined
  if (contype !== 'CONSTR_CHECK' && contype !== 'CONSTR_FOREIGN')
    return 'builds an index, or reads all rows, under a lock: CREATE UNIQUE INDEX CONCURRENTLY comes first'
  if (isNotValid) return undefined
  return 'reads all rows under a lock: NOT VALID, and VALIDATE CONSTRAINT in a migration of its own'
}

/** A foreign key locks the table that it names, too. */
function referencesOthers(elements: Node[], { newTables }: KnownSchema): boolean {
  return elements.some((element) => {
    if ('ColumnDef' in element)
      return referencesOthers(element.ColumnDef.constraints ?? [], { newTables } as KnownSchema)
    if (!('Constraint' in element) || element.Constraint.pktable === undefined) return false
    return !newTables.has(tableOf({ relation: element.Constraint.pktable }))
  })
}

function isLockTimeout(node: Node | undefined): boolean {
  if (node === undefined || !('VariableSetStmt' in node)) return false
  const { kind, name, args } = node.VariableSetStmt
  const [value] = args ?? []
  return (
    kind === 'VAR_SET_VALUE' &&
    name === 'lock_timeout' &&
    value !== undefined &&
    'A_Const' in value &&
    value.A_Const.sval?.sval === '1s'
  )
}
