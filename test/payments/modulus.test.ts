import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dashedSortCode } from '#domain/bank-account.ts'
import { BadConfiguration } from '#infra/config.ts'
import { makeBankAccountCheck } from '#infra/modulus-weights.ts'

const check = makeBankAccountCheck({ MODULUS_WEIGHTS_FILE: undefined, MODULUS_SUBSTITUTIONS_FILE: undefined })
const passes = (pair: string) => {
  const [sort_code = '', account_number = ''] = pair.replaceAll('-', '').split('/')
  return check({ sort_code, account_number })
}

/** As Vocalink publishes them with the rules. */
const valid = `
  08-99-99/66374958 10-79-99/88837491 20-29-59/63748472 87-14-27/46238510 87-24-27/46238510 87-14-27/09123496
  87-14-27/99123496 82-00-00/73688637 82-79-99/73988638 82-71-01/28748352 13-40-20/63849203 11-87-65/64371389
  20-09-15/41011166 93-86-11/07806039 93-86-00/42368003 93-80-63/55065200 77-27-98/99345694 08-60-90/06774744
  30-90-70/02355688 30-90-70/12345668 30-90-70/12345677 30-90-70/99345694 18-00-02/00000190 07-44-56/12345112
  07-44-56/11104102 07-01-16/34012583`
const invalid = `
  93-80-63/15764273 93-80-63/15764264 93-80-63/15763217 11-87-65/64371388 20-30-99/66831036 20-30-99/58716970
  08-99-99/66374959 10-79-99/88837493`

test.each(valid.trim().split(/\s+/))('%s belong together', (pair) => {
  expect(passes(pair)).toBe(true)
})

test.each(invalid.trim().split(/\s+/))('%s do not belong together', (pair) => {
  expect(passes(pair)).toBe(false)
})

test('all 34 published pairs are checked', () => {
  expect([...valid.trim().split(/\s+/), ...invalid.trim().split(/\s+/)]).toHaveLength(34)
})

test('exception 10 asks for a 9 in place g, as the published rules say', () => {
  expect(passes('87-70-71/99674854')).toBe(true)
})

test('a sort code that is not in the table cannot be checked, and passes', () => {
  expect(passes('00-00-00/12345678')).toBe(true)
})

test('a sort code is written with dashes', () => {
  expect(dashedSortCode('089999')).toBe('08-99-99')
})

describe('weights of the operator’s own', () => {
  const withFile = async <Result>(content: string, work: (file: string) => Result): Promise<Result> => {
    const directory = await mkdtemp(join(tmpdir(), 'coverstream-weights-'))
    const file = join(directory, 'weights.txt')
    try {
      await writeFile(file, content)
      return work(file)
    } finally {
      await rm(directory, { recursive: true })
    }
  }

  test('take the place of those that come with the service', async () => {
    const line = '010000 019999 MOD10 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n'
    const own = await withFile(line, (file) =>
      makeBankAccountCheck({ MODULUS_WEIGHTS_FILE: file, MODULUS_SUBSTITUTIONS_FILE: undefined }),
    )
    expect(own({ sort_code: '010203', account_number: '10000000' })).toBe(false)
    expect(own({ sort_code: '010203', account_number: '00000001' })).toBe(true)
  })

  test('are refused at the start when a line is not as published, or there is no such file', async () => {
    const make = (file: string) => () =>
      makeBankAccountCheck({ MODULUS_WEIGHTS_FILE: file, MODULUS_SUBSTITUTIONS_FILE: undefined })
    await withFile('010000 019999 MOD12 0 0\n', (file) => {
      expect(make(file)).toThrow(BadConfiguration)
      expect(make(file)).toThrow('MODULUS_WEIGHTS_FILE: line 1')
    })
    expect(make('/nowhere/weights.txt')).toThrow('MODULUS_WEIGHTS_FILE')
  })
})
