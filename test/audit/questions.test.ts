import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsOf } from '../guides/guide.ts'

const root = join(import.meta.dirname, '..', '..')
const name = /^\s*(?:test|describe)[^\n]*\(\s*'([^\n]*\bquestions? [^\n]*)'/gm

/** The numbers of the questions that a file of tests asks, by the names of its tests. */
const asked = async (file: string): Promise<readonly number[]> => {
  const text = await readFile(join(root, file), 'utf8')
  const names = [...text.matchAll(name)].map(([, named = '']) => named)
  return names.flatMap((named) => [...(/\bquestions? ([\d and]+)/.exec(named)?.[1] ?? '').matchAll(/\d+/g)].map(Number))
}

test('each question of the guide is asked by a test, in a file that is also run over EventStoreDB', async () => {
  const [command = ''] = await commandsOf('docs/changing.md', 'The past, tried at length')
  const named = /vitest run (.*)/.exec(command)?.[1]?.split(' ') ?? []
  const files = (await Promise.all(named.map((pattern) => Array.fromAsync(glob(pattern, { cwd: root }))))).flat()
  const guide = await readFile(join(root, 'docs', 'audit.md'), 'utf8')
  const questions = [...guide.matchAll(/^\| (\d+) /gm)].map(([, number]) => Number(number))

  const numbers = new Set((await Promise.all(files.map(asked))).flat())
  expect([...numbers].toSorted((one, other) => one - other)).toEqual(questions)
})
