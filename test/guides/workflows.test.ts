import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LeadTriggerType } from '#domain/workflows/events.ts'
import { triggerNameOf } from '#domain/workflows/record.ts'

const guide = new URL('../../docs/workflows.md', import.meta.url)

test('the guide to workflows names every trigger about leads as the body does', async () => {
  const rows = (await readFile(guide, 'utf8')).split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const documented = new Map(rows.map(([, type = '', name = '']) => [type, name]))
  const types = LeadTriggerType.options.filter((type) => !type.startsWith('activity.'))

  expect(types.map((type) => [type, documented.get(`\`${type}\``)])).toEqual(
    types.map((type) => [type, triggerNameOf(type)]),
  )
  expect(documented.has('`activity.<kind>`')).toBe(true)
})
