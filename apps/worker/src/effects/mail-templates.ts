import { createReadBatcher, type Database, writeJson } from '@automation/database'
import { compileMailTemplate, type MailTemplate } from '@automation/engine'
import { LRUCache } from 'lru-cache'

/** A compiled template, or why it does not compile, as when a later version of this service wrote it. */
export type StoredTemplate = MailTemplate | { fault: string }

interface Compiled {
  id: string
  updatedAt: Date
  template: StoredTemplate
}

interface Request {
  workspaceId: string
  name: string
  /** The cached version; its texts are not read again. */
  id: string | undefined
  updatedAt: Date | undefined
}

interface Row {
  /** Of the request in its batch. */
  index: number
  id: string
  updatedAt: Date
  isKnown: boolean
  text: string | null
  html: string | null
}

/** Of all cached texts together: a few hundred templates of an ordinary size. */
const maxCharacters = 20_000_000
/** How many templates one statement reads: each may have 200,000 characters. */
const maxBatch = 50

/**
 * Reads the current version of each requested template. The texts are null where the request names that version already.
 *
 * $1 requests
 */
const findTemplatesSql = `
  SELECT requests.index, t.id, t.updated_at AS "updatedAt", version.is_known AS "isKnown",
         CASE WHEN version.is_known THEN NULL ELSE t.text END AS text,
         CASE WHEN version.is_known THEN NULL ELSE t.html END AS html
  FROM json_to_recordset($1::json)
    AS requests (index int, "workspaceId" uuid, name text, id uuid, "updatedAt" timestamptz)
  JOIN email_templates t ON t.workspace_id = requests."workspaceId" AND t.name = requests.name
  CROSS JOIN LATERAL (
    SELECT (t.id, t.updated_at) IS NOT DISTINCT FROM (requests.id, requests."updatedAt") AS is_known
  ) version`

/**
 * Creates a function that finds a workspace's template by its name; undefined where there is none. Each call asks the database for
 * the current version, so no mail uses an old one. The cache saves reading and compiling the texts again.
 */
export function createMailTemplates(database: Database) {
  const cache = new LRUCache<string, Compiled>({ maxSize: maxCharacters })
  const findRow = createReadBatcher(
    async (requests: Request[]) => {
      const table = writeJson(requests.map((request, index) => ({ index, ...request })))
      const rows = await database.run<Row>('find_email_templates', findTemplatesSql, [table])
      const byIndex = new Map(rows.map((row) => [row.index, row]))
      return requests.map((_, index) => byIndex.get(index))
    },
    { maxItems: maxBatch },
  )

  return async (workspaceId: string, name: string): Promise<StoredTemplate | undefined> => {
    // Postgres cannot store such a text, so no template has this name; as a parameter it would fail the statement.
    if (name.includes('\0') || !name.isWellFormed()) return undefined
    const key = `${workspaceId} ${name}`
    const cached = cache.get(key)
    const row = await findRow({ workspaceId, name, id: cached?.id, updatedAt: cached?.updatedAt })
    if (row === undefined) return undefined
    if (cached && row.isKnown) return cached.template
    const { id, updatedAt, text, html } = row
    const template = compile(text, html)
    cache.set(key, { id, updatedAt, template }, { size: 1 + (text?.length ?? 0) + (html?.length ?? 0) })
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
