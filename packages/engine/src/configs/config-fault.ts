import type { ActionDefinition } from '../actions/action-definition.js'
import { actionDefinitions } from '../actions/index.js'
import { compileShape } from '../shape/compile-shape.js'
import type { Format } from '../templates/formats.js'
import { describeUnfit, type Template } from '../templates/template.js'
import { uncapitalize } from '../texts/capitalize.js'
import { showText } from '../texts/show-text.js'

const checks = new Map(
  actionDefinitions.map((definition: ActionDefinition) => [
    definition.type,
    {
      findShapeFaults: compileShape(definition.config),
      formats: Object.entries(definition.formats ?? {}),
    },
  ]),
)

/**
 * Describes why a rendered config does not fit its action, such as an empty recipient or a URL without a host, and which placeholders
 * of that field have no value or no text: `config.to must have at least 1 character: {{email}} is missing`. Undefined when it fits.
 */
export function findConfigFault(
  type: string,
  config: unknown,
  template?: Template,
  data?: unknown,
): string | undefined {
  const found = findFault(type, config)
  if (found === undefined) return undefined
  // An item of a list is what a placeholder rendered, or a part of it: the value says more than a name.
  if (found.item !== undefined) return `${found.message}: ${found.item}`
  const unfit = template ? describeUnfit(findEntry(template, found.keys), data).slice(0, maxNamed) : []
  return unfit.length === 0 ? found.message : `${found.message}: ${unfit.join(', ')}`
}

/** The template at a place, or the nearest one around it. */
function findEntry(template: Template, [key, ...keys]: readonly string[]): Template {
  const [, entry] = template.entries?.find(([name]) => name === key) ?? []
  return entry === undefined ? template : findEntry(entry, keys)
}

/** Placeholders in one message. */
const maxNamed = 3

interface FoundFault {
  keys: string[]
  message: string
  /** The faulty item of a list. */
  item?: string
}

function findFault(type: string, config: unknown): FoundFault | undefined {
  const check = checks.get(type)
  if (!check) return { keys: [], message: `${type} is not an action type` }
  const [fault] = check.findShapeFaults(config)
  if (fault !== undefined) {
    const keys = readKeys(fault.field)
    const message = `config.${fault.field} ${uncapitalize(fault.message)}`
    return { keys, message, ...describeItem(config, keys) }
  }
  const texts = config as Record<string, unknown>
  for (const [key, findFormatFault] of check.formats) {
    const value = texts[key]
    if (typeof value === 'string') {
      const fault = findFormatFault(value)
      if (fault) return { keys: [key], message: `config.${key} ${fault}` }
    } else if (Array.isArray(value)) {
      const fault = findItemFault(key, value, findFormatFault)
      if (fault) return fault
    }
  }
  return undefined
}

function findItemFault(
  key: string,
  items: readonly unknown[],
  findFormatFault: Format,
): FoundFault | undefined {
  for (const [index, text] of items.entries()) {
    const fault = findFormatFault(text as string)
    if (fault)
      return { keys: [key, String(index)], message: `config.${key}[${index}] ${fault}`, item: showText(text) }
  }
  return undefined
}

/** Of a field that is a list, such as `to`: below others there is any JSON. */
function describeItem(config: unknown, keys: readonly string[]): { item?: string } {
  const [key = '', index, ...deeper] = keys
  const list = (config as Record<string, unknown> | undefined)?.[key]
  if (!Array.isArray(list) || index === undefined || deeper.length > 0) return {}
  return { item: showText(list[Number(index)]) }
}

/** A field of the config, and the item or field in it that is at fault. */
function readKeys(field: string): string[] {
  const [, key = '', index, name] = /^(\w*)(?:\[(\d+)\]|\.(.*))?/s.exec(field) ?? []
  return [key, index ?? name].filter((one) => one !== undefined)
}
