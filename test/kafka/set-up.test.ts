import { expect, test } from 'vitest'
import { organisationEvents } from '#domain/access/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { learnSetUp } from '../../delivery-worker/planning/set-up.ts'
import { testDatabase } from '../database.ts'
import { recorded } from '../recorded.ts'

const organisation_id = OrganisationId.parse('6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001')
const activated = recorded(
  organisationEvents,
  `organisation-${organisation_id}`,
  [{ type: 'OrganisationActivated', organisation_id }],
  { organisation_id },
)

test('what only a newer process can read of the set-up is left to it, and nothing is given back as unreadable', async () => {
  await using database = await testDatabase()
  const learning = { pool: database.pool, capabilities, source: 'kafka topic' } as const
  const newer = activated.map((event) => ({ ...event, schema_version: 2 }))

  await expect(learnSetUp(learning, newer)).rejects.toThrow('upgrade this process')

  expect(await learnSetUp(learning, activated)).toEqual([])
})
