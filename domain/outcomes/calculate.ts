import type { Formula, Measure, Operand, OutcomeModel, OutcomeType } from './events.ts'

type Values = Readonly<Record<string, number>>

/** An exact fraction. */
type Fraction = readonly [numerator: bigint, denominator: bigint]

const exact = (text: string): Fraction => {
  const [whole = '', fraction = ''] = text.split('.')
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)]
}

/** JSON numbers that passed the check of their unit have few places, which their text shows. */
const fractionOf = (value: number): Fraction => exact(String(value))

const operandOf = (operand: Operand, values: Values): Fraction | undefined => {
  if ('constant' in operand) return exact(operand.constant)
  const value = values[operand.value]
  return value === undefined ? undefined : fractionOf(value)
}

const combine = (operation: Formula['operation'], [n, d]: Fraction, [m, e]: Fraction): Fraction => {
  switch (operation) {
    case 'sum':
      return [n * e + m * d, d * e]
    case 'product':
      return [n * m, d * e]
    case 'quotient':
      return [n * e, d * m]
  }
}

/** Money half up to a penny, counts to a whole, percentages to a hundredth. */
const rounded = ([numerator, denominator]: Fraction, unit: Measure['unit']): number => {
  const scale = unit === 'percent' ? 100n : 1n
  return Number((2n * numerator * scale + denominator) / (2n * denominator)) / Number(scale)
}

/** Undefined while an operand is missing, or when it would divide by nothing. */
const calculated = ({ operation, of }: Formula, unit: Measure['unit'], values: Values): number | undefined => {
  const operands = of.map((operand) => operandOf(operand, values))
  let result: Fraction | undefined
  for (const operand of operands) {
    if (!operand) return undefined
    result = result ? combine(operation, result, operand) : operand
    if (result[1] === 0n) return undefined
  }
  const value = result && rounded(result, unit)
  return value !== undefined && Number.isSafeInteger(Math.round(value)) ? value : undefined
}

/** The values sent with those that are worked out of them, and which required ones are missing still. */
export const completeValues = (
  type: OutcomeType,
  { measures }: Pick<OutcomeModel, 'measures'>,
  sent: Values,
): { readonly values: Record<string, number>; readonly missing_values: string[] } => {
  const values: Record<string, number> = { ...sent }
  const unitOf = (key: string) => measures.find((measure) => measure.key === key)?.unit ?? 'count'
  // In their order: one that is worked out may be an operand of a later one.
  for (const { key, formula } of type.values) {
    if (!formula) continue
    const value = calculated(formula, unitOf(key), values)
    if (value !== undefined) values[key] = value
  }
  const missing_values = type.values.filter(({ key, required }) => required && values[key] === undefined)
  return { values, missing_values: missing_values.map(({ key }) => key) }
}

const mostPercent = 100_000

/** Why a value cannot be one of a unit; undefined when it can. */
export const valueFault = (unit: Measure['unit'], value: number): string | undefined => {
  if (!Number.isFinite(value) || value < 0) return 'must not be negative'
  if (unit === 'percent') {
    if (value > mostPercent) return `must be at most ${mostPercent}`
    return /^\d+(\.\d{1,4})?$/.test(String(value)) ? undefined : 'must have at most four decimals'
  }
  return Number.isSafeInteger(value) ? undefined : unit === 'money' ? 'must be whole pence' : 'must be a whole number'
}
