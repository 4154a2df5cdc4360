import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { statusOf } from '#infra/http/problem.ts'

const guide = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8')

/** Codes with their statuses, from the table below a heading. */
const tableBelow = (heading: string) => {
  const [, section = ''] = guide.split(`## ${heading}\n`)
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (.+?) +\|$/gm)
  return [...rows].map(([, code = '', status, advice = '']) => ({ code, status: Number(status), advice }))
}

test('the guide has every error code with its status, once, and what to do', () => {
  const told = tableBelow('Codes')

  expect(Object.fromEntries(told.map(({ code, status }) => [code, status]))).toEqual(statusOf)
  expect(told).toHaveLength(Object.keys(statusOf).length)
  expect(told.filter(({ advice }) => advice.length < 20)).toEqual([])
})

test('the guide has every error of the token endpoint', async () => {
  const folder = new URL('../../command-api/access/', import.meta.url)
  const sources = await Promise.all(
    ['token.ts', 'token-error.ts', 'token-request.ts'].map(async (name) => readFile(new URL(name, folder), 'utf8')),
  )
  const codes = [
    ...sources.join('').matchAll(/'(\w+_(?:request|client|grant_type|target|scope|limited|unavailable|error))'/g),
  ]

  expect(new Set(codes.map(([, code]) => code))).toEqual(
    new Set(tableBelow('The token endpoint').map(({ code }) => code)),
  )
})
