/** The language of dates, times and numbers. Without one, dates are American ones with a clock of 24 hours. Texts are English in each. */
let chosen: string | undefined

/** @param tag of BCP 47: one that is wrong, or that the browser does not know, counts as none */
export function chooseLocale(tag: string | undefined): void {
  try {
    chosen = tag === undefined ? undefined : Intl.DateTimeFormat.supportedLocalesOf(tag)[0]
  } catch {
    chosen = undefined
  }
}

export function writeNumber(number: number): string {
  return number.toLocaleString(chosen ?? 'en-US')
}

/** A format for each kind: making one takes a hundred times as long as using it, and a list shows a time in each row. */
export function keepFormats<Kind extends string, Format>(
  make: (kind: Kind, locale: string | undefined) => Format,
): (kind: Kind) => Format {
  const formats = new Map<string, Format>()
  return (kind) => {
    const name = `${kind} ${chosen}`
    const format = formats.get(name) ?? make(kind, chosen)
    formats.set(name, format)
    return format
  }
}

export function clockOf(locale: string | undefined): Intl.DateTimeFormatOptions {
  return locale === undefined
    ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
    : { hour: 'numeric', minute: '2-digit' }
}
