/** A decimal number by its digits: `-12.50` is -1250 with 2 decimals, and `3e2` is 3 with -2. */
interface Decimal {
  isNegative: boolean
  digits: string
  decimals: number
}

/** From this value on, a whole number becomes a text with an exponent in JavaScript. */
const leastWithExponent = 1e21

/** Whether a double keeps all digits of a number as it is written: `8202522731445525542` would become 8202522731445526000. */
export function keepsDigits(text: string): boolean {
  // A double keeps any fifteen digits.
  if (text.length <= 15 && !/e/i.test(text)) return true
  return significantDigits(text) === significantDigits(String(Number(text)))
}

/** Whether a number as it is written is not what a double would be written as again. A number beyond all doubles has no nearest one, and is none. */
export function isLongNumber(text: string): boolean {
  const number = Number(text)
  if (!Number.isFinite(number)) return false
  const isKept = keepsDigits(text) || hasDigitsOfDouble(text, number)
  return !isKept || (Math.abs(number) >= leastWithExponent && !/e/i.test(text))
}

/** Many programs write a short number with all 17 digits of its double: 19.989999999999998 is 19.99. */
function hasDigitsOfDouble(text: string, number: number): boolean {
  const isShort = significantDigits(String(number)).length <= 15
  return isShort && significantDigits(text) === significantDigits(number.toPrecision(17))
}

/** Writes a number with so many decimals, rounded half away from zero, as its digits say: 1.005 is no binary fraction. Without exponent and negative zero. */
export function roundDecimal(number: number | string, decimals: number): string {
  const { isNegative, digits, decimals: given } = readDecimal(String(number))
  const excess = 10n ** BigInt(Math.max(0, given - decimals))
  const scaled = BigInt(digits) * 10n ** BigInt(Math.max(0, decimals - given))
  const rounded = (2n * scaled + excess) / (2n * excess)
  const text = String(rounded).padStart(decimals + 1, '0')
  const whole = text.slice(0, text.length - decimals)
  return `${isNegative && rounded !== 0n ? '-' : ''}${whole}${decimals === 0 ? '' : `.${text.slice(-decimals)}`}`
}

/** Writes a number as text without an exponent. */
export function writeNumber(number: number): string {
  const text = String(number)
  return text.includes('e') ? roundDecimal(text, Math.max(0, readDecimal(text).decimals)) : text
}

/** Compares two numbers by their digits: below 0 if the left one is less. */
export function compareDecimals(left: string, right: string): number {
  const [one, other] = align(left, right)
  return one === other ? 0 : one < other ? -1 : 1
}

/** Adds two numbers by their digits: 0.1 and 0.2 are 0.3. */
export function addDecimals(left: string, right: string): string {
  const [one, other, decimals] = align(left, right)
  return writeDecimal(one + other, decimals)
}

export function subtractDecimals(left: string, right: string): string {
  const [one, other, decimals] = align(left, right)
  return writeDecimal(one - other, decimals)
}

export function multiplyDecimals(left: string, right: string): string {
  const [one, other, decimals] = align(left, right)
  return writeDecimal(one * other, 2 * decimals)
}

/** Digits behind the first one of a quotient that does not end. */
const quotientDigits = 20

/** Divides by digits. A quotient that does not end is that of the nearest number. Undefined for a divisor of 0. */
export function divideDecimals(left: string, right: string): string | undefined {
  const [one, other] = align(left, right)
  if (other === 0n) return undefined
  const decimals = quotientDigits + Math.max(0, String(other).length - String(one).length)
  const scaled = one * 10n ** BigInt(decimals)
  const text = writeDecimal(scaled / other, decimals)
  const number = Number(text)
  const isExact = scaled % other === 0n || Math.abs(number) > Number.MAX_SAFE_INTEGER
  return isExact ? text : writeNumber(number)
}

/** Both as whole numbers of the same unit. */
function align(left: string, right: string): [one: bigint, other: bigint, decimals: number] {
  const one = readDecimal(left)
  const other = readDecimal(right)
  const decimals = Math.max(0, one.decimals, other.decimals)
  return [scale(one, decimals), scale(other, decimals), decimals]
}

function scale({ isNegative, digits, decimals }: Decimal, wanted: number): bigint {
  const scaled = BigInt(digits) * 10n ** BigInt(wanted - decimals)
  return isNegative ? -scaled : scaled
}

function writeDecimal(value: bigint, decimals: number): string {
  const text = String(value < 0n ? -value : value).padStart(decimals + 1, '0')
  const whole = text.slice(0, text.length - decimals)
  const fraction = text.slice(text.length - decimals).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

function readDecimal(text: string): Decimal {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(text) ?? []
  return { isNegative: sign === '-', digits: whole + fraction, decimals: fraction.length - Number(exponent) }
}

/** Without the zeros at both ends. */
function significantDigits(text: string): string {
  const { digits } = readDecimal(text)
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  return digits.slice(start, end)
}
