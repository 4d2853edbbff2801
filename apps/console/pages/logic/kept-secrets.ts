import { isSecret, isSecretText, redact, redacted } from './history/redact.js'
import type { Definition } from './rule-definition.js'

interface Kept {
  definition: Definition
  texts?: Readonly<Record<string, string>> | undefined
}

/** Stands in place of a secret that is not that of the saved rule: it is nowhere once the page is gone. */
const typed = `${redacted} typed`

type Change = (value: unknown, saved: unknown, name: string) => unknown

/**
 * What a browser may keep: dots stand where a name says that its text is a secret, also in JSON that is not finished.
 *
 * @param saved what the changes began with, and where its secrets still are
 * @returns also whether a secret was typed, which is lost with the page
 */
export function hideSecrets(
  { definition, texts }: Kept,
  saved: Definition | undefined,
): Kept & { isWhole: boolean } {
  let isWhole = true
  const hide = (text: string, known: unknown) => {
    if (text === known) return redacted
    isWhole = false
    return typed
  }
  const hidden = changeTexts(definition, saved, (value, known, name) =>
    typeof value === 'string' && isSecretText(name, value) ? hide(value, known) : value,
  )
  const parts = texts && Object.entries(texts).map(([path, text]) => [path, hideInText(text)] as const)
  if (parts?.some(([path, text]) => text !== texts?.[path])) isWhole = false
  return { definition: hidden, ...(parts && { texts: Object.fromEntries(parts) }), isWhole }
}

/**
 * Puts the secrets of the saved rule back where they were: into an action that calls the same URL, or that is the same in all else. No other
 * action gets them.
 *
 * @returns also the names of those that are nowhere: their texts are empty
 */
export function bringSecrets(
  { definition, texts }: Kept,
  saved: Definition | undefined,
): Kept & { missing: readonly string[] } {
  const missing = new Set<string>()
  const brought = changeTexts(definition, saved, (value, known, name) => {
    if (!isSecret(name) || (value !== redacted && value !== typed)) return value
    if (value === redacted && typeof known === 'string') return known
    missing.add(name)
    return ''
  })
  const parts = Object.entries(texts ?? {}).map(([path, text]) => [
    path,
    text.replaceAll(inText, (_, name: string, between: string) => {
      missing.add(name)
      return `"${name}"${between}"`
    }),
  ])
  return { definition: brought, ...(texts && { texts: Object.fromEntries(parts) }), missing: [...missing] }
}

const inText = new RegExp(`"([^"\\\\\\n]+)"(\\s*:\\s*)"${typed}`, 'g')

/** Which of these names still have no text. */
export function findEmpty({ definition, texts }: Kept, names: readonly string[]): readonly string[] {
  const all = [JSON.stringify(definition), ...Object.values(texts ?? {})]
  return names.filter((name) => all.some((text) => hasEmpty(text, name)))
}

function hasEmpty(text: string, name: string): boolean {
  return [...text.matchAll(/"([^"\\\n]+)"\s*:\s*""/g)].some(([, found]) => found === name)
}

/** Changes each text, beside what stands there in the saved rule. */
function changeTexts(definition: Definition, saved: Definition | undefined, change: Change): Definition {
  const walk = (value: unknown, known: unknown, name: string): unknown => {
    if (typeof value !== 'object' || value === null) return change(value, known, name)
    const of = (key: string | number) => (known as Record<string, unknown> | undefined | null)?.[key]
    if (Array.isArray(value)) return value.map((item, index) => walk(item, of(index), ''))
    return Object.fromEntries(Object.entries(value).map(([key, found]) => [key, walk(found, of(key), key)]))
  }
  const parts = Object.entries(definition).map(([key, part]) => [
    key,
    key === 'actions'
      ? definition.actions.map((action) => walk(action, findTwin(action, saved?.actions ?? []), ''))
      : walk(part, saved?.[key as keyof Definition], key),
  ])
  return Object.fromEntries(parts) as Definition
}

/** The saved action that has the secrets of this one. */
function findTwin(action: unknown, saved: readonly unknown[]): unknown {
  const same = JSON.stringify(redact(action))
  const equal = saved.filter((one) => JSON.stringify(redact(one)) === same)
  if (equal.length > 0) return equal.length === 1 ? equal[0] : undefined
  const place = addressOf(action)
  const calling = saved.filter((one) => place !== undefined && addressOf(one) === place)
  return calling.length === 1 ? calling[0] : undefined
}

function addressOf(action: unknown): string | undefined {
  const { type, config } = action as { type?: unknown; config?: { url?: unknown } }
  return typeof config?.url === 'string' ? JSON.stringify([type, config.url]) : undefined
}

/** Of JSON as far as it goes: `"Authorization": "Bearer …`. */
function hideInText(text: string): string {
  return text.replace(
    /"([^"\\\n]+)"(\s*:\s*)"((?:[^"\\]|\\.)*)("?)/g,
    (all, name: string, between: string, value: string, end: string) =>
      isSecretText(name, value) ? `"${name}"${between}"${typed}${end}` : all,
  )
}
