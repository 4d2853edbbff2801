import { createBatcher, type Database } from '@automation/database'
import { compileMailTemplate, type MailTemplate } from '@automation/engine'
import { LRUCache } from 'lru-cache'

/** A stored template, ready to be filled; or why it cannot be, as when a later version wrote it. */
export type StoredTemplate = MailTemplate | { fault: string }

interface Compiled {
  id: string
  updatedAt: Date
  template: StoredTemplate
}

interface Wanted {
  workspaceId: string
  name: string
  /** The version that is known already; its texts need not be read again. */
  id: string | undefined
  updatedAt: Date | undefined
}

interface Row {
  place: number
  id: string
  updatedAt: Date
  isKnown: boolean
  text: string | null
  html: string | null
}

/** Of all texts together: a few hundred templates of an ordinary size. */
const maxCharacters = 20_000_000
/** At most so many texts are read at a time: each may have 200,000 characters. */
const maxBatch = 50

/**
 * Finds the template of a name in a workspace; undefined where there is none. Each time the database is asked which version
 * is the current one, so a mail is never written with another; what is kept here saves reading and compiling it again.
 */
export function createMailTemplates(database: Database) {
  const known = new LRUCache<string, Compiled>({ maxSize: maxCharacters })
  const findRow = createBatcher(async (wanted: Wanted[]) => {
    const table = JSON.stringify(wanted.map((template, place) => ({ place, ...template })))
    const rows = await database.run<Row>('find_email_templates', statement, [table])
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return wanted.map((_, place) => byPlace.get(place))
  }, maxBatch)

  return async (workspaceId: string, name: string): Promise<StoredTemplate | undefined> => {
    // What Postgres cannot store is no template's name, nor may it be asked for.
    if (name.includes('\0') || !name.isWellFormed()) return undefined
    const key = `${workspaceId} ${name}`
    const current = known.get(key)
    const row = await findRow({ workspaceId, name, id: current?.id, updatedAt: current?.updatedAt })
    if (row === undefined) return undefined
    if (current && row.isKnown) return current.template
    const { id, updatedAt, text, html } = row
    const template = compile(text, html)
    known.set(key, { id, updatedAt, template }, { size: 1 + (text?.length ?? 0) + (html?.length ?? 0) })
    return template
  }
}

function compile(text: string | null, html: string | null): StoredTemplate {
  try {
    return compileMailTemplate({ text, html })
  } catch (error) {
    return { fault: `does not compile: ${(error as Error).message}` }
  }
}

const statement = `
  SELECT wanted.place, t.id, t.updated_at AS "updatedAt", version.is_known AS "isKnown",
         CASE WHEN version.is_known THEN NULL ELSE t.text END AS text,
         CASE WHEN version.is_known THEN NULL ELSE t.html END AS html
  FROM json_to_recordset($1::json)
    AS wanted (place int, "workspaceId" uuid, name text, id uuid, "updatedAt" timestamptz)
  JOIN email_templates t ON t.workspace_id = wanted."workspaceId" AND t.name = wanted.name
  CROSS JOIN LATERAL (
    SELECT (t.id, t.updated_at) IS NOT DISTINCT FROM (wanted.id, wanted."updatedAt") AS is_known
  ) version`
