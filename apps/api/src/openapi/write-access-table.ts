import type { Tables } from '../vocabulary/write-tables.js'

/** What the table reads of the document of the API. */
interface Document {
  paths: Record<string, Record<string, Operation>>
}

interface Operation {
  summary: string
  tags: string[]
  'x-required-role'?: string
  'x-required-scope'?: string
}

const roles = ['viewer', 'operator', 'editor', 'admin']

/** The operations by the least role that may call them, for docs/reference/authentication.md. */
export function writeAccessTable(document: object): Tables {
  const operations = Object.values((document as Document).paths).flatMap((path) => Object.values(path))
  const parts = roles.map((role) => {
    const allowed = operations.filter((operation) => operation['x-required-role'] === role)
    const title = `## What ${role === 'viewer' || role === 'editor' ? `the ${role}` : `an ${role}`} may do${role === 'viewer' ? '' : ', also'}`
    return `${title}\n| About | Operations |\n| --- | --- |\n${listByTag(allowed)}`
  })
  const open = operations.filter((operation) => operation['x-required-role'] === undefined)
  return {
    access: `${parts.join('\n\n')}\n\n## What needs no role\n| About | Operations |\n| --- | --- |\n${listByTag(open)}`,
  }
}

function listByTag(operations: Operation[]): string {
  const tags = [...new Set(operations.flatMap(({ tags: [tag = ''] }) => tag))].sort()
  const rows = tags.map((tag) => {
    const summaries = operations.filter(({ tags: [first] }) => first === tag).map(describe)
    return `| ${tag} | ${summaries.join(' · ')} |`
  })
  return rows.join('\n')
}

function describe({ summary, 'x-required-scope': scope }: Operation): string {
  return scope === 'receipts:read' ? `${summary} (also the scope \`receipts:read\`)` : summary
}
