import type { RuleFile } from '@automation/rules'
import { type Document, isCollection, isMap, isNode, LineCounter, parseDocument, stringify } from 'yaml'
import { CommandFault } from './command-fault.js'

export const ruleFormats = ['yaml', 'json'] as const
export type RuleFormat = (typeof ruleFormats)[number]

/** A file of rules as it was read. */
export interface RuleText {
  json: unknown
  /** The line of a path such as `rules[3].conditions`, or of what is nearest above it. */
  findLine(field: string): number
}

/** The format that a file's name speaks of. */
export function guessFormat(path: string): RuleFormat {
  return /\.json$/i.test(path) ? 'json' : 'yaml'
}

/** The same rules give the same text: no line is folded, so a change shows where it was made. */
export function writeRuleText(file: RuleFile, format: RuleFormat): string {
  return format === 'json' ? `${JSON.stringify(file, null, 2)}\n` : writeYaml(file)
}

/** Quoted so that readers of YAML 1.1, to which `yes` is a boolean, read the same. */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })
}

/** @throws CommandFault where the text is none of its format, or says what JSON cannot */
export function readRuleText(text: string, name: string, format: RuleFormat): RuleText {
  const lines = new LineCounter()
  const parse = () => parseDocument(text, { lineCounter: lines, resolveKnownTags: false, logLevel: 'error' })
  if (format === 'json') {
    const json = parseJson(text, name)
    return { json: checkJson(json, name), findLine: (field) => findLine(parse(), lines, field) }
  }
  const document = parse()
  const [fault] = [...document.errors, ...document.warnings]
  if (fault)
    throw new CommandFault(`${name}:${fault.linePos?.[0].line ?? 1}: ${fault.message.split(' at line')[0]}.`)
  return {
    json: checkJson(readYaml(document, name), name),
    findLine: (field) => findLine(document, lines, field),
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFault(`${name} is no JSON: ${(error as Error).message}.`, { cause: error })
  }
}

/** An anchor that is not there, and anchors that unfold into too much, come to light only here. */
function readYaml(document: Document, name: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new CommandFault(`${name}: ${(error as Error).message}.`, { cause: error })
  }
}

/** Goes through JSON as a request would, so that what is stored is what was read. */
function checkJson(value: unknown, name: string): unknown {
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part))
      throw new CommandFault(`${name}: ${key} is ${part}, and JSON has no such number.`)
    if (key === '__proto__') throw new CommandFault(`${name}: no key may be __proto__.`)
    return part
  })
  return JSON.parse(text)
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
