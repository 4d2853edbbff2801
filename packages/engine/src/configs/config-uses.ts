import {
  type CredentialInText,
  listCredentials,
  listPlaceholderUses,
  type PlaceholderUse,
  withoutItem,
} from '../templates/template.js'
import { listTexts, type PlacedText } from '../texts/list-texts.js'

/** A placeholder of an action, with the path of its text in the rule. */
export interface PlacedUse extends PlaceholderUse {
  readonly place: string
  /** The field of the config, such as `to`. */
  readonly field: string
}

/** Lists what the texts of a config read of the event: its placeholders, and the list of forEach. */
export function listConfigUses(config: object, place: string): PlacedUse[] {
  const isEach = 'forEach' in config
  return Object.entries(config).flatMap(([field, value]) => {
    if (field === 'forEach') return [useOfList(value, `${place}.config.forEach`)]
    // Conditions on the items.
    if (isEach && field === 'where') return []
    return listConfigTexts(field, value, `${place}.config.${field}`).flatMap((placed) =>
      listPlaceholderUses(placed.text).map((use) => ({
        ...(isEach && field === 'data' ? withoutItem(use) : use),
        place: placed.place,
        field,
      })),
    )
  })
}

/** The conditions of `for` are constants, as all conditions are. */
function listConfigTexts(field: string, value: unknown, place: string): PlacedText[] {
  if (field !== 'for' || typeof value !== 'object' || value === null) return listTexts(value, place)
  const { match } = value as { match?: unknown }
  return listTexts(match, `${place}.match`)
}

function useOfList(path: string, place: string): PlacedUse {
  return { path, filters: [], fallbacks: [], reads: [path], isWhole: true, place, field: 'forEach' }
}

/** A credential of an action, with the path of its text in the rule. */
export interface CredentialUse extends CredentialInText {
  readonly place: string
  /** The field of the config, such as `headers`. */
  readonly field: string
}

/** Lists the credentials of a config. */
export function listCredentialUses(config: object, place: string): CredentialUse[] {
  return Object.entries(config).flatMap(([field, value]) =>
    listTexts(value, `${place}.config.${field}`).flatMap(({ text, place }) =>
      listCredentials(text).map((found) => ({ ...found, place, field })),
    ),
  )
}
