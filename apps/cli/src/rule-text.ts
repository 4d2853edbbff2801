import { isLongNumber, keepDigits, type LongNumber, readJson } from '@automation/engine'
import type { RuleFile } from '@automation/rules'
import { Type } from 'typebox'
import { Document, isCollection, isMap, isNode, LineCounter, parseDocument, type Scalar, visit } from 'yaml'
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

/** Quotes texts so that parsers of YAML 1.1, for which `yes` is a boolean, read the same values. */
export function writeYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_, node) {
      // As a block, a text of blanks and line breaks would lose its blanks.
      if (typeof node.value === 'string' && node.value.trim() === '') node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 })
}

/** @throws CommandError if the text is not valid in its format, or contains values that JSON cannot represent */
export function readRuleText(text: string, name: string, format: RuleFormat): RuleText {
  const lines = new LineCounter()
  const parse = () => parseDocument(text, { lineCounter: lines, resolveKnownTags: false, logLevel: 'error' })
  if (format === 'json') {
    const { value, longNumbers } = parseJson(text, name)
    return {
      json: checkJson(value, name),
      longNumbers,
      isWhole: true,
      findLine: (field) => findLine(parse(), lines, field),
    }
  }
  const document = parse()
  const [fault] = [...document.errors, ...document.warnings]
  if (fault)
    throw new CommandError(`${name}:${fault.linePos?.[0].line ?? 1}: ${fault.message.split(' at line')[0]}.`)
  return {
    ...readYaml(document, name),
    isWhole: document.directives.docEnd,
    findLine: (field) => findLine(document, lines, field),
  }
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
