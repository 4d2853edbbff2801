import { isDeepStrictEqual } from 'node:util'
import { isLongNumber, keepDigits, type LongNumber, readJson } from '@automation/engine'
import type { RuleFile } from '@automation/rules'
import { Type } from 'typebox'
import {
  Document,
  isCollection,
  isMap,
  isNode,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml'
import { changeDocument, countComments, hasAnchors } from './change-yaml.js'
import { checkJson } from './check-json.js'
import { CommandError } from './command-error.js'
import { readAs } from './option-readers.js'

export const ruleFormats = ['yaml', 'json'] as const
export type RuleFormat = (typeof ruleFormats)[number]

export const formatOption = [
  '--format <format>',
  `${ruleFormats.join(' or ')} (default: by the file name, otherwise yaml)`,
  readAs(Type.Enum([...ruleFormats])),
] as const

/** The content of a rule file. */
export interface RuleText {
  json: unknown
  /** Its numbers with more digits than a double keeps. In tests they became texts, as they do in events. */
  longNumbers: LongNumber[]
  /** Nothing is missing at its end: JSON that is cut short cannot be read, and YAML has its end mark `...`. */
  isWhole: boolean
  /** The line of a path such as `rules[3].conditions`, or of its nearest existing parent. */
  findLine(field: string): number
}

/** The format that the file name indicates. */
export function guessFormat(path: string): RuleFormat {
  return /\.json$/i.test(path) ? 'json' : 'yaml'
}

/** YAML's own mark for the end of a document. Without it, the beginning of a file of rules is a file of fewer rules. */
export const endMark = '...'

/**
 * Tells an editor where the schema of the file is, so that it completes and checks what is typed. It is beside the file: a repository keeps it, and
 * the API serves it as /docs/rules.schema.json.
 */
const schemaLine = '# yaml-language-server: $schema=rules.schema.json'

/** The same rules always give the same text. No line is folded, so a diff shows each change where it was made. */
export function writeRuleText(file: RuleFile, format: RuleFormat): string {
  return format === 'json'
    ? `${JSON.stringify(file, null, 2)}\n`
    : `${schemaLine}\n${writeYaml(file)}${endMark}\n`
}

/**
 * Writes the rules into a text of YAML that is there: it is changed where it differs, so comments and anchors stay.
 *
 * @returns undefined if there are neither, or if that cannot be done: then the file is written anew
 */
export function changeRuleText(text: string, file: RuleFile): string | undefined {
  if (countComments(text) === 0 && !hasAnchors(text)) return undefined
  const json = JSON.parse(JSON.stringify(file))
  const document = changeDocument(text.replaceAll('\r\n', '\n'), json)
  if (document === undefined) return undefined
  // A comment at the end would follow the mark.
  document.directives.docEnd = false
  const changed = `${writeDocument(document)}${endMark}\n`
  // What reads it must read the same.
  if (!isDeepStrictEqual(readRuleText(changed, '', 'yaml').json, json)) return undefined
  return text.includes('\r\n') ? changed.replaceAll('\n', '\r\n') : changed
}

/** Quotes texts so that parsers of YAML 1.1, for which `yes` is a boolean, read the same values. */
export function writeYaml(value: unknown): string {
  return writeDocument(new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' }))
}

/** YAML forbids most of them as they are, and other parsers take the rest for line breaks or leave them out. */
const escaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

function writeDocument(document: Document): string {
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeControls(document.toString({ lineWidth: 0 }))
}

/** Within the quotes of YAML or JSON; JSON leaves some that control a terminal. */
export function escapeControls(text: string): string {
  return text.replaceAll(escaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text of one line with a tab, and `=` and `<<`, are something else for parsers of YAML 1.1. */
function needsQuotes(text: string): boolean {
  // As a block, a text of blanks and line breaks would lose its blanks.
  if (text.trim() === '' || text === '=' || text === '<<') return true
  return text.search(escaped) >= 0 || (text.includes('\t') && !text.includes('\n'))
}

/** @throws CommandError if the text is not valid in its format, or contains values that JSON cannot represent */
export function readRuleText(text: string, name: string, format: RuleFormat): RuleText {
  const parse = () => {
    const lines = new LineCounter()
    const options = { lineCounter: lines, merge: true, resolveKnownTags: false, logLevel: 'error' } as const
    return { document: parseDocument(text, options), lines }
  }
  if (format === 'json') {
    const { value, longNumbers } = parseJson(text, name)
    let parsed: ReturnType<typeof parse> | undefined
    return {
      json: checkJson(value, name),
      longNumbers,
      isWhole: true,
      findLine(field) {
        parsed ??= parse()
        return findLine(parsed.document, parsed.lines, field)
      },
    }
  }
  const { document, lines } = parse()
  const [fault] = [...document.errors, ...document.warnings]
  if (fault) throw new CommandError(`${name}:${fault.linePos?.[0].line ?? 1}: ${describeFault(fault)}.`)
  return {
    ...readYaml(document, name),
    isWhole: document.directives.docEnd,
    findLine: (field) => findLine(document, lines, field),
  }
}

function describeFault({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS'
    ? 'A second document begins here (---), but a file of rules is one'
    : (message.split(' at line')[0] ?? message)
}

/** Rules do not: a constant that became a text would no longer compare as a number. */
function takesText(field: string): boolean {
  return field.startsWith('tests[')
}

function parseJson(text: string, name: string): ReturnType<typeof readJson> {
  try {
    return readJson(text, takesText)
  } catch (error) {
    throw new CommandError(`${name} is not valid JSON: ${(error as Error).message}.`, { cause: error })
  }
}

/** Unknown anchors, and anchors that expand too far or without end, are detected only here. */
function readYaml(document: Document, name: string): Pick<RuleText, 'json' | 'longNumbers'> {
  try {
    const long = findLongScalars(document)
    const json = checkJson(document.toJS(), name)
    if (long.length === 0) return { json, longNumbers: [] }
    for (const node of long) node.value = node.source
    const { value, longNumbers } = keepDigits(json, checkJson(document.toJS(), name), takesText)
    return { json: value, longNumbers }
  } catch (error) {
    if (error instanceof CommandError) throw error
    const reason =
      error instanceof TypeError
        ? 'an anchor contains itself, which JSON cannot represent'
        : (error as Error).message
    throw new CommandError(`${name}: ${reason}.`, { cause: error })
  }
}

/** The long numbers that are values. Those that are keys become texts at once, as all keys of JSON are. */
function findLongScalars(document: Document): Scalar[] {
  const found: Scalar[] = []
  visit(document, {
    Scalar(place, node) {
      const { value, source = '' } = node
      if (typeof value !== 'number') return
      const isLong = /^0[xo]/.test(source) ? !Number.isSafeInteger(value) : isLongNumber(source)
      if (isLong && place === 'key') node.value = source
      else if (isLong) found.push(node)
    },
  })
  return found
}

function findLine(document: Document, lines: LineCounter, field: string): number {
  let node: unknown = document.contents
  let offset = 0
  for (const [segment] of field.matchAll(/[^.[\]]+/g)) {
    if (!isCollection(node)) break
    const next = node.get(segment, true) ?? node.get(Number(segment), true)
    const key = isMap(node) ? node.items.find((pair) => String(pair.key) === segment)?.key : next
    if (isNode(key) && key.range) offset = key.range[0]
    node = next
  }
  return lines.linePos(offset).line
}
