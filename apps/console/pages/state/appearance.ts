import type { OpenedEmbedSession } from '@automation/client'
import { deriveColours } from '../logic/accent-colours.js'
import { chooseLocale } from '../logic/locale.js'
import { theme } from './preferences.js'

/** Families that every browser knows. In quotes they would be names of fonts. */
const families = ['serif', 'sans-serif', 'monospace', 'system-ui', 'ui-serif', 'ui-sans-serif', 'ui-rounded']

/**
 * Makes the page look as an embed session says, before its first screen is drawn. Another session changes all of it, but for the colour scheme that
 * its host has said meanwhile.
 */
export function applyAppearance({
  appearance = {},
  locale,
}: Pick<OpenedEmbedSession, 'appearance' | 'locale'>): void {
  const { colorScheme, accent, radius, fonts, density } = appearance
  chooseLocale(locale)
  if (colorScheme !== undefined) theme.value = colorScheme === 'auto' ? 'system' : colorScheme
  const { dataset, style } = document.documentElement
  if (density === 'compact') dataset.density = density
  else delete dataset.density
  style.cssText = ''
  const properties = {
    ...(accent && deriveColours(accent)),
    ...(radius !== undefined && { '--radius': `${radius}px` }),
    ...(fonts?.length && { '--sans': writeFonts(fonts) }),
  }
  for (const [name, value] of Object.entries(properties)) style.setProperty(name, value)
}

/** The fonts of the page come last, so that a text has letters wherever it is read. */
function writeFonts(fonts: readonly string[]): string {
  const names = fonts.map((font) => (families.includes(font) ? font : JSON.stringify(font)))
  return [...names, 'Inter', 'ui-sans-serif', 'system-ui', 'sans-serif'].join(', ')
}
