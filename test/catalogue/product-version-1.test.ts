import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { NewEvent } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { products, releases } from '../../projections/catalogue/projection.ts'
import { readModel } from '../read-model.ts'
import { file } from '../setup/builders.ts'
import { setupApi } from '../setup/setup-api.ts'

const acme = OrganisationId.parse(derivedId('organisation', 'acme'))
const stream = `product-${derivedId('product', acme, 'term')}`

/** What version 2 knew of buying a product; version 3 added the rest. */
const knownToVersion2 = ['inline_bacs_mandate', 'direct_debit_first']

/** As version 1 stored it: covers without the fields that they left out, and nothing to show before buying. */
const asVersion1 = ({ type, data, metadata, schema_version }: NewEvent): NewEvent => {
  const kept = (key: string, value: unknown) => {
    if ((key === 'members_min' || key === 'members_max') && value === null) return undefined
    if (['inactive_after_days', 'market', 'earnings'].includes(key)) return undefined
    if (key !== 'checkout') return value
    return Object.fromEntries(Object.entries(value as object).filter(([name]) => knownToVersion2.includes(name)))
  }
  const stored = JSON.parse(JSON.stringify(data, kept)) as NewEvent['data']
  return { id: randomUUID(), type, data: stored, metadata, schema_version: schema_version === 4 ? 1 : schema_version }
}

/** The events of a product that was set up while version 1 was the newest. */
const storedByVersion1 = async () => {
  await using api = await setupApi()
  await api.apply(file)
  return (await api.eventLog.read(stream)).map(asVersion1)
}

test('a product that was stored as version 1 is read, shown and set up again as the newest version', async () => {
  const events = await storedByVersion1()
  expect(JSON.stringify(events)).not.toContain('members_min')
  expect(events).toContainEqual(expect.objectContaining({ type: 'ReleasePublished', schema_version: 1 }))

  await using api = await setupApi()
  await api.eventLog.append(stream, 'no_stream', events)
  const repeated = await api.apply(file)
  expect(repeated.status).toBe(200)

  // The set-up found nothing to change in the product, and the command side holds the newest version.
  expect(await api.eventLog.read(stream)).toHaveLength(events.length)
  await expect.poll(() => api.catalogue.current(acme, 'term')?.lifecycle_state).toBe('production')
  const release = api.catalogue.current(acme, 'term')?.release
  expect(release?.covers[0]).toMatchObject({ members_min: null, members_max: null })

  await using view = await readModel(products, releases)
  await view.apply(await api.eventLog.read(stream))
  const { rows } = await view.pool.query<{ document: unknown }>('select document from releases')
  expect(rows.map(({ document }) => document)).toEqual([release])
})
