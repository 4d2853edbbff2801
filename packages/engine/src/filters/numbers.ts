import { showText } from '../texts/show-text.js'
import { toNumber } from '../values/comparison.js'
import {
  addDecimals,
  divideDecimals,
  isLongNumber,
  keepsDigits,
  multiplyDecimals,
  roundDecimal,
  subtractDecimals,
} from '../values/decimal.js'
import {
  type Argument,
  compileOperand,
  type Filter,
  type FilterCompiler,
  type FilterDefinition,
  isNothing,
  type Operand,
} from './filter.js'

const maxDecimals = 20
/** No longer text is read as a number. */
const maxDigits = 1_000

/** Units of work for a calculation, and for each digit. */
const workPerCalculation = 100

/** Calculates with the digits of two numbers. Undefined where there is no result. */
type Calculate = (left: string, right: string) => string | undefined

export const numberFilters: readonly FilterDefinition[] = [
  {
    name: 'number',
    description: `A number with this number of decimals (0 to ${maxDecimals}), as text; its decimal digits are rounded half away from zero. Without an argument a number that was text. Another value, and without an argument a text with more digits than a number keeps, stays as it is, with a warning.`,
    example: { template: '{{amount | number:2}}', data: { amount: '1.005' }, output: '1.01' },
    compile: compileNumber,
  },
  {
    name: 'plus',
    description: 'The sum with the argument: a number, or a field of the data. What is no number gives "".',
    example: { template: '{{net | plus:tax}}', data: { net: 0.1, tax: 0.2 }, output: 0.3 },
    takesField: true,
    compile: compileArithmetic('plus', addDecimals),
  },
  {
    name: 'minus',
    description: 'The difference to the argument, as plus.',
    example: { template: '{{stock | minus:1}}', data: { stock: '12' }, output: 11 },
    takesField: true,
    compile: compileArithmetic('minus', subtractDecimals),
  },
  {
    name: 'times',
    description: 'The product with the argument, as plus.',
    example: { template: '{{price | times:qty}}', data: { price: 19.99, qty: 3 }, output: 59.97 },
    takesField: true,
    compile: compileArithmetic('times', multiplyDecimals),
  },
  {
    name: 'divided_by',
    description: 'The quotient with the argument, as plus. A divisor of 0 gives "".',
    example: { template: '{{total | divided_by:4}}', data: { total: 10 }, output: 2.5 },
    takesField: true,
    compile: compileArithmetic('divided_by', divideDecimals),
  },
  {
    name: 'round',
    description: `The number, rounded to this number of decimals (0 to ${maxDecimals}; without an argument to 0), half away from zero. What is no number gives "".`,
    example: { template: '{{share | times:100 | round:1}}', data: { share: 0.12345 }, output: 12.3 },
    compile: compileRound,
  },
]

function compileNumber(argument: Argument | undefined): Filter | string {
  const decimals = argument ? toNumber(argument.text) : undefined
  if (decimals !== undefined && !isDecimals(decimals))
    return `accepts a number of decimals from 0 to ${maxDecimals}, such as number:2`
  return (value, { warn }) => {
    if (isNothing(value)) return value
    const number = toNumber(value)
    if (Number.isNaN(number)) {
      warn('is not a number')
      return value
    }
    if (decimals !== undefined) return roundDecimal(value as number | string, decimals)
    if (typeof value === 'number' || keepsDigits(value as string)) return number
    warn('has more digits than a number keeps')
    return value
  }
}

function compileRound(argument: Argument | undefined): Filter | string {
  const decimals = argument ? toNumber(argument.text) : 0
  if (!isDecimals(decimals)) return `accepts a number of decimals from 0 to ${maxDecimals}, such as round:2`
  return (value, { warn }) => {
    if (value === undefined) return value
    if (isNumber(value)) return readResult(roundDecimal(value as number | string, decimals))
    warn(`is ${showText(value)}, and no number: round reads numbers`)
    return ''
  }
}

function isDecimals(number: number): boolean {
  return Number.isInteger(number) && number >= 0 && number <= maxDecimals
}

function compileArithmetic(name: string, calculate: Calculate): FilterCompiler {
  return (argument) => {
    const operand = argument && !argument.isQuoted ? compileOperand(argument) : undefined
    if (operand === undefined || (operand.field === undefined && !isNumber(operand.read(undefined))))
      return `needs a number or a field, such as ${name}:2 or ${name}:qty`
    if (operand.field === undefined && isLongNumber(argument?.text ?? ''))
      return 'accepts no number with that many digits'
    if (operand.field === undefined && calculate('1', String(operand.read(undefined))) === undefined)
      return 'cannot divide by 0'
    return applyArithmetic(name, operand, calculate)
  }
}

/** What has no result is "", and never the value as it was: a price must not pass for a sum. */
function applyArithmetic(name: string, { field, read }: Operand, calculate: Calculate): Filter {
  return (value, { warn, data, charge }) => {
    if (value === undefined) return value
    const other = read(data)
    const unread = [
      [undefined, value],
      [field, other],
    ].find(([, one]) => !isNumber(one))
    if (unread !== undefined) {
      const [of, one] = unread
      const state = one === undefined ? 'missing' : `${showText(one)}, and no number`
      warn(of === undefined ? `is ${state}: ${name} reads numbers` : `has no result: ${of} is ${state}`)
      return ''
    }
    const [left, right] = [String(value), String(other)]
    charge(workPerCalculation + left.length + right.length)
    const result = calculate(left, right)
    if (result !== undefined && result.length <= maxDigits) return readResult(result)
    warn(
      result === undefined
        ? `has no result: ${field ?? 'the divisor'} is 0`
        : `has no result: ${name} makes more than ${maxDigits} digits`,
    )
    return ''
  }
}

function isNumber(value: unknown): boolean {
  return !Number.isNaN(toNumber(value))
}

/** A number; the text of its digits where a number does not keep them, as in the data of events. */
function readResult(text: string): number | string {
  const number = Number(text)
  return Number.isFinite(number) && keepsDigits(text) ? number : text
}
