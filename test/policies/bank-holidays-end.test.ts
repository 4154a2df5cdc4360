import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startCommandApi } from '../../command-api/command-api.ts'
import { wholeService } from '../whole-service.ts'

test('a start with bank holidays that end soon is told of in the log, and in health as long as it goes on', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-holidays-'))
  const BANK_HOLIDAYS_FILE = join(directory, 'holidays.json')
  await writeFile(BANK_HOLIDAYS_FILE, JSON.stringify({ events: [{ date: '2024-12-26' }] }))
  await using service = await wholeService()
  const { parts } = service
  const warn = vi.spyOn(parts.log, 'warn')
  const ending = new AbortController()

  const config = { ...parts.config, BANK_HOLIDAYS_FILE }
  const commandApi = await startCommandApi({ ...parts, config, signal: ending.signal })
  const checks = await commandApi.checks()
  ending.abort()
  await commandApi.stop()
  await rm(directory, { recursive: true })

  const detail = 'no bank holiday after 2024-12-26 is known: name a newer file in BANK_HOLIDAYS_FILE'
  expect(warn.mock.calls).toContainEqual([{ variable: 'BANK_HOLIDAYS_FILE' }, detail])
  expect(checks).toContainEqual({ name: 'bank_holidays', ok: true, detail })
})
