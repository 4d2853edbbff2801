/** A migration's script, and what it is about: the tables, or the one index or change. */
export interface MigrationStep {
  suffix: string
  sql: string
}

/**
 * Splits the SQL that changes a schema into migrations that follow the rules of docs/operate/upgrade.md: new tables and types together, each
 * change of a table by itself and with an end for its wait, each foreign key validated after it holds for new rows, and each index built beside
 * writes.
 *
 * @param sql as Prisma writes it: one statement under each comment
 */
export function splitMigration(sql: string): MigrationStep[] {
  const statements = sql.split(/^(?=-- )/m).filter((statement) => /^[^-\s]/m.test(statement))
  const made = statements.filter((statement) => !isIndex(statement) && !isAlter(statement))
  return [
    ...(made.length > 0 ? [{ suffix: '', sql: made.join('') }] : []),
    ...statements.filter(isAlter).flatMap(splitAlter),
    ...statements.filter(isIndex).map((statement) => ({
      suffix: `_${nameAfter(statement, /INDEX/)}`,
      sql: statement.replace(/\b(CREATE(?: UNIQUE)? INDEX|DROP INDEX)\b/, '$1 CONCURRENTLY'),
    })),
  ]
}

function splitAlter(statement: string): MigrationStep[] {
  const table = nameAfter(statement, /ALTER TABLE/)
  const constraint = nameOfConstraint.exec(statement)?.[1]
  const sql = constraint === undefined ? statement : statement.replace(/;(\s*)$/, ' NOT VALID;$1')
  const alter = { suffix: `_alter_${table}`, sql: `SET lock_timeout = '1s';\n\n${sql}` }
  if (constraint === undefined) return [alter]
  const validate = `-- ValidateForeignKey\nALTER TABLE "${table}" VALIDATE CONSTRAINT "${constraint}";\n`
  return [alter, { suffix: `_validate_${constraint}`, sql: validate }]
}

const nameOfConstraint = /\bADD CONSTRAINT "(\w+)" FOREIGN KEY\b/

function isIndex(statement: string): boolean {
  return /^(CREATE (UNIQUE )?|DROP )INDEX\b/m.test(statement)
}

function isAlter(statement: string): boolean {
  return /^ALTER TABLE\b|\bREFERENCES\b/m.test(statement)
}

function nameAfter(statement: string, keyword: RegExp): string {
  return new RegExp(`${keyword.source} "?(?:public"?\\."?)?(\\w+)`).exec(statement)?.[1] ?? 'change'
}
