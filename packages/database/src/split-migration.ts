/** A migration's script, and what it is about: the tables, or the one index or change. */
export interface MigrationStep {
  suffix: string
  sql: string
}

/**
 * Splits the SQL that changes a schema into migrations that follow the rules of docs/operate/upgrade.md: new tables and types together, each
 * change of a table by itself and with an end for its wait, and each index built beside writes.
 *
 * @param sql as Prisma writes it: one statement under each comment
 */
export function splitMigration(sql: string): MigrationStep[] {
  const statements = sql.split(/^(?=-- )/m).filter((statement) => /^[^-\s]/m.test(statement))
  const made = statements.filter((statement) => !isIndex(statement) && !isAlter(statement))
  return [
    ...(made.length > 0 ? [{ suffix: '', sql: made.join('') }] : []),
    ...statements.filter(isAlter).map((statement) => ({
      suffix: `_alter_${nameAfter(statement, /ALTER TABLE/)}`,
      sql: `SET lock_timeout = '3s';\n\n${statement}`,
    })),
    ...statements.filter(isIndex).map((statement) => ({
      suffix: `_${nameAfter(statement, /INDEX/)}`,
      sql: statement.replace(/\b(CREATE(?: UNIQUE)? INDEX|DROP INDEX)\b/, '$1 CONCURRENTLY'),
    })),
  ]
}

function isIndex(statement: string): boolean {
  return /^(CREATE (UNIQUE )?|DROP )INDEX\b/m.test(statement)
}

function isAlter(statement: string): boolean {
  return /^ALTER TABLE\b|\bREFERENCES\b/m.test(statement)
}

function nameAfter(statement: string, keyword: RegExp): string {
  return new RegExp(`${keyword.source} "?(?:public"?\\."?)?(\\w+)`).exec(statement)?.[1] ?? 'change'
}
