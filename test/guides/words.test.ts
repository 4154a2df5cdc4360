import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const guide = readFileSync(join(root, 'docs', 'changing.md'), 'utf8')
const [, words = ''] = /^## Words\n(.*?)^## /ms.exec(guide) ?? []
const rows = [...words.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].map(([, first = '', second = '']) => ({ first, second }))
const avoided = rows.flatMap(({ first }) => [...first.matchAll(/`(\w+)`/g)].map(([, word = '']) => word))

const own = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && path !== 'test/guides/words.test.ts' && !path.startsWith('test/stored-events/'))
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

test('each word is explained once', () => {
  const explained = rows.filter(({ first }) => !first.startsWith('`')).flatMap(({ first }) => first.split(', '))

  expect(explained.length).toBeGreaterThan(20)
  expect(explained.filter((word, index) => explained.indexOf(word) !== index)).toEqual([])
})

test('a word that was given up for another is used nowhere', () => {
  const found = own.flatMap((path) => {
    const text = textOf(path)
    return avoided.filter((word) => new RegExp(`\\b${word}\\b`).test(text)).map((word) => `${path}: ${word}`)
  })

  expect(avoided.length).toBeGreaterThan(5)
  expect(found).toEqual([])
})

test('a comment says what something is, and does not begin with What, Whether or How', () => {
  const turned = own
    .filter((path) => !path.startsWith('test/') && !path.startsWith('bench/'))
    .flatMap((path) =>
      [...textOf(path).matchAll(/\/\*\*\s+(?:\* )?((?:What|Whether|How)\b.*)/g)].map(([, line]) => `${path}: ${line}`),
    )

  expect(turned).toEqual([])
})
