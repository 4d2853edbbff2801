import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { deriveColours } from '../../pages/logic/accent-colours.js'

type Scheme = 'light' | 'dark'
const schemes = ['light', 'dark'] as const
const tokens = readFileSync(new URL('../../../pages/styles/tokens.css', import.meta.url), 'utf8')

/** WCAG 2.2, relative luminance: of a colour such as #0055cc. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** WCAG 2.2, contrast ratio. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function channels(colour: string): number[] {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour)
  if (found === null) throw new Error(`${colour} is no colour`)
  return found.slice(1).map((part) => Number.parseInt(part, 16))
}

function write(values: number[]): string {
  return `#${values.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`
}

/** A token of a scheme, as tokens.css has it. */
function token(name: string, scheme: Scheme): string {
  const found = new RegExp(`${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens)
  return found?.[scheme === 'light' ? 1 : 2] ?? ''
}

function read(value: string | undefined, scheme: Scheme): string {
  const found = /^light-dark\((#\w+), (#\w+)\)$/.exec(value ?? '')
  return found?.[scheme === 'light' ? 1 : 2] ?? value ?? ''
}

/** The ground below the pointer, as --hover of tokens.css covers it. */
function hovered(ground: string, scheme: Scheme): string {
  const [over, share] =
    scheme === 'light' ? ([[20, 22, 40], 0.045] as const) : ([[255, 255, 255], 0.06] as const)
  return write(channels(ground).map((value, index) => value + ((over[index] ?? 0) - value) * share))
}

const grounds = ['--n0', '--n1', '--n2', '--card', '--raised', '--bad-soft', '--wait-soft', '--good-soft']
const texts = ['--n9', '--n8', '--n7', '--bad', '--wait', '--good']
const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
const worst = [
  '#ffff00',
  '#000000',
  '#ffffff',
  '#808080',
  '#00ff00',
  '#0000ff',
  '#ff0000',
  '#00ffff',
  '#767676',
].map((one): [string] => [one])

/** @returns what cannot be read with this accent */
function findHidden(accent: string): string[] {
  const made = deriveColours(accent)
  return schemes.flatMap((scheme) => {
    const own = read(made['--accent'], scheme)
    const soft = read(made['--accent-soft'], scheme)
    const onAll = [...grounds.map((name) => token(name, scheme)), soft].flatMap((ground) => [
      ground,
      hovered(ground, scheme),
    ])
    return [
      // As text, and so as ring and line, which need 3.
      ...onAll
        .filter((ground) => contrast(own, ground) < 4.5)
        .map((ground) => `${scheme}: accent on ${ground}`),
      ...texts
        .map((name) => token(name, scheme))
        .filter((text) => contrast(text, soft) < 4.5)
        .map((text) => `${scheme}: ${text} on the soft ground ${soft}`),
      ...(contrast(read(made['--on-primary'], scheme), read(made['--primary'], scheme)) < 4.5
        ? [`${scheme}: text of a primary button`]
        : []),
      // The edge of a primary button and the ring around it, on what a page consists of.
      ...onAll.filter((ground) => contrast(own, ground) < 3),
    ]
  })
}

t.test('no accent hides a text, in light and in dark', async () => {
  fc.assert(
    fc.property(colour, (accent) => {
      const hidden = findHidden(accent)
      if (hidden.length > 0) throw new Error(hidden.join('\n'))
    }),
    { numRuns: 500, examples: worst },
  )
})

t.test('a primary button below the pointer can be read, too', async () => {
  fc.assert(
    fc.property(colour, (accent) => {
      const { '--primary-hover': hover = '', '--on-primary': text = '' } = deriveColours(accent)
      // Away from its text, the contrast only grows.
      return hover.includes(text === '#000000' ? ' white 15%' : ' black 15%') && hover.includes(accent)
    }),
    { examples: worst },
  )
})

t.test('an accent that can be read stays as it is, and a primary button always has it', async (t) => {
  const brand = deriveColours('#3a55cf')
  t.equal(read(brand['--accent'], 'light'), '#3a55cf')
  t.equal(brand['--primary'], '#3a55cf')
  t.equal(read(deriveColours('#ffe08a')['--accent'], 'dark'), '#ffe08a')
  t.equal(deriveColours('#ffff00')['--primary'], '#ffff00')
})

t.test('a colour that must change keeps its hue', async () => {
  const hueOf = (text: string) => {
    const values = channels(text)
    return values.indexOf(Math.max(...values))
  }
  fc.assert(
    fc.property(colour, (accent) => {
      const [low = 0, , high = 0] = channels(accent).sort((a, b) => a - b)
      // Of greys and near greys there is no greatest part that rounding would leave.
      const made = deriveColours(accent)
      return (
        high - low < 40 ||
        schemes.every((scheme) => {
          const own = channels(read(made['--accent'], scheme))
          return (own[hueOf(accent)] ?? 0) >= Math.max(...own) - 1
        })
      )
    }),
    { examples: worst },
  )
})
