/** Red, green and blue by their light, from 0 to 1: luminance is a weighted sum of them. */
type Colour = readonly [red: number, green: number, blue: number]

/** The luminance of the least favourable ground that the accent stands on as text, of the soft ground, and how much of its colour that keeps. */
const schemes = {
  light: { ground: 0.775, soft: 0.87, colourful: 0.4 },
  dark: { ground: 0.04, soft: 0.0235, colourful: 0.35 },
}
/** WCAG asks for 4.5 of text. Rounding to 8 bits costs a little. */
const leastContrast = 4.6

/**
 * What the page makes of an accent, so that no colour hides a text. The ground of a primary button is the colour itself, and its text is black or
 * white. As text, ring and line the accent is as much darker, or in the dark lighter, as it must be.
 *
 * @param accent such as #0055cc
 * @returns values of custom properties
 */
export function deriveColours(accent: string): Record<string, string> {
  const colour = readColour(accent)
  const isLight = luminanceOf(colour) > 1.05 / leastContrast - 0.05
  const both = (make: (scheme: 'light' | 'dark') => Colour) =>
    `light-dark(${writeColour(make('light'))}, ${writeColour(make('dark'))})`
  return {
    '--accent': both((scheme) => makeLegible(colour, scheme)),
    '--accent-soft': both((scheme) => soften(colour, scheme)),
    '--primary': accent,
    '--on-primary': isLight ? '#000000' : '#ffffff',
    '--primary-hover': `color-mix(in oklab, ${accent}, ${isLight ? 'white' : 'black'} 15%)`,
    // Red bars say what failed, so the others are of no colour.
    '--bar': 'light-dark(#adaebb, #686b77)',
  }
}

function makeLegible(colour: Colour, scheme: 'light' | 'dark'): Colour {
  const ground = schemes[scheme].ground + 0.05
  const luminance = luminanceOf(colour)
  return scheme === 'light'
    ? withLuminance(colour, Math.min(luminance, ground / leastContrast - 0.05))
    : withLuminance(colour, Math.max(luminance, ground * leastContrast - 0.05))
}

/** All texts that stand on it know its luminance, so that the colour alone is of the accent. */
function soften(colour: Colour, scheme: 'light' | 'dark'): Colour {
  const { soft, colourful } = schemes[scheme]
  return mix([soft, soft, soft], withLuminance(colour, soft), colourful)
}

/** Darker or lighter in its own colour as far as that goes, and then mixed with white: almost black is no colour. */
function withLuminance(colour: Colour, wanted: number): Colour {
  const times = Math.min(4, 1 / Math.max(...colour), wanted / (luminanceOf(colour) || 1))
  const own = mix([0, 0, 0], colour, times)
  const luminance = luminanceOf(own)
  return wanted > luminance ? mix(own, [1, 1, 1], (wanted - luminance) / (1 - luminance)) : own
}

function mix(one: Colour, other: Colour, share: number): Colour {
  const at = (index: 0 | 1 | 2) => one[index] + (other[index] - one[index]) * share
  return [at(0), at(1), at(2)]
}

function luminanceOf([red, green, blue]: Colour): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function readColour(text: string): Colour {
  const read = (at: number) => {
    const value = Number.parseInt(text.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [read(1), read(3), read(5)]
}

function writeColour(colour: Colour): string {
  const write = (light: number) => {
    const value = light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${colour.map(write).join('')}`
}
