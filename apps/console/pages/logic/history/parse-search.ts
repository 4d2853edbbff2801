import type { Condition } from '@automation/client'

type Parsed = { conditions: Condition[]; q: string } | { fault: string }

const operators: Readonly<Record<string, string>> = {
  '=': 'equals',
  '!=': 'not_equals',
  '≠': 'not_equals',
  '>': 'greater_than',
  '>=': 'greater_than_or_equal',
  '≥': 'greater_than_or_equal',
  '<': 'less_than',
  '<=': 'less_than_or_equal',
  '≤': 'less_than_or_equal',
  '~': 'contains_any',
}
const comparison = /^([^\s"=!<>~≠≥≤]+)\s*(>=|<=|!=|≥|≤|≠|=|>|<|~)\s*(.*)$/su
/** What one search may have, as one rule. */
const mostClauses = 50
/** Of the words, as the API takes them. */
const mostCharacters = 200
const day = /^\d{4}-\d{2}-\d{2}/

/**
 * What somebody looks for in the data of events: `score > 80, country = DE, name ~ ada`, each of which has to hold, and words, which any field
 * has.
 */
export function parseSearch(text: string): Parsed {
  const conditions: Condition[] = []
  const words: string[] = []
  for (const part of splitParts(text)) {
    const [, field, sign = '', raw = ''] = comparison.exec(part) ?? []
    const found = field === undefined ? undefined : compare(field, sign, raw.trim())
    if (typeof found === 'string') return { fault: found }
    if (found === undefined) words.push(readText(part))
    else conditions.push(found as Condition)
  }
  const q = words.join(' ')
  if (conditions.length > mostClauses) return { fault: `Must have at most ${mostClauses} comparisons` }
  if (q.length > mostCharacters) return { fault: `Must have at most ${mostCharacters} characters of words` }
  return { conditions, q }
}

/** At commas, and not within quotes. */
function splitParts(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** @returns a condition, or what is wrong with it */
function compare(field: string, sign: string, raw: string): object | string {
  if (raw === '') return `Must have a value after ${field} ${sign}`
  const operator = operators[sign] as string
  if (sign === '~') return { field, operator, value: spell(readText(raw)) }
  const value = readValue(raw)
  if (operator === 'equals' || operator === 'not_equals') return { field, operator, value }
  if (typeof value === 'number') return { field, operator, value }
  if (!day.test(raw)) return `Must have a number or a day after ${field} ${sign}`
  return {
    field,
    operator: sign === '>' || operator.endsWith('greater_than_or_equal') ? 'after' : 'before',
    value: raw,
  }
}

/** Comparisons tell capital letters from small ones, and who looks for a name hardly ever does. */
function spell(text: string): string[] {
  const small = text.toLowerCase()
  return [...new Set([text, small, text.toUpperCase(), small.slice(0, 1).toUpperCase() + small.slice(1)])]
}

function readText(raw: string): string {
  if (!/^".*"$/s.test(raw)) return raw
  try {
    return JSON.parse(raw) as string
  } catch {
    return raw
  }
}

/** `80` is a number, `true` a boolean, `"80"` a text. One with more digits than a number keeps is stored as a text. */
function readValue(raw: string): string | number | boolean {
  if (raw === 'true' || raw === 'false') return raw === 'true'
  if (/^-?\d+(\.\d+)?$/.test(raw) && String(Number(raw)) === raw) return Number(raw)
  return readText(raw)
}
