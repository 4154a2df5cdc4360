import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { testDatabase } from '../database.ts'

const program = fileURLToPath(new URL('reader-process.ts', import.meta.url))

/** Reads over several connections, kills the API after so many answers, and says which reads were answered. */
const readUntilKilled = async (url: string, answers: number): Promise<readonly string[]> => {
  const child = fork(program, [url])
  const ended = once(child, 'exit')
  const [port] = (await once(child, 'message')) as [number] // what the program sends
  const answered: string[] = []
  const reader = async () => {
    for (;;) {
      const id = randomUUID()
      const status = await fetch(`http://127.0.0.1:${port}/admin/v1/people/${id}`).then(
        (response) => response.status,
        () => undefined,
      )
      if (status === undefined) return
      expect(status).toBe(200)
      answered.push(id)
      if (answered.length === answers) child.kill('SIGKILL')
    }
  }
  await Promise.all([reader(), reader(), reader(), reader(), reader()])
  await ended
  return answered
}

test('killed twenty times while people are read, no read is answered that is not recorded', async () => {
  await using database = await testDatabase()
  const answered: string[] = []
  for (let kill = 1; kill <= 20; kill++) answered.push(...(await readUntilKilled(database.url, kill * 3)))

  const { rows } = await database.pool.query<{ record_id: string }>('select record_id from access_subject')
  const recorded = new Set(rows.map(({ record_id }) => record_id))

  expect(answered.length).toBeGreaterThanOrEqual(20 * 21 * 1.5)
  expect(answered.filter((id) => !recorded.has(id))).toEqual([])
}, 180_000)
