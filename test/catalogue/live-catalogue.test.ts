import { expect, test } from 'vitest'
import { productEvents } from '#domain/catalogue/events.ts'
import { OrganisationId, ProductId, ReleaseId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { makeLiveFolds } from '#infra/consumers/live-folds.ts'
import { followCatalogue } from '../../command-api/catalogue/live-catalogue.ts'
import { recorded } from '../recorded.ts'
import { setupApi } from '../setup/setup-api.ts'
import { file } from '../setup/builders.ts'
import { became } from './builders.ts'

const acme = OrganisationId.parse(derivedId('organisation', 'acme'))
const other = OrganisationId.parse('99999999-9999-4999-8999-999999999999')
const product_id = ProductId.parse(derivedId('product', acme, 'term'))

const named = (name: string) => file.replace('        name: Term\n', `        name: ${name}\n`)

test('the current release is known at once, to its organisation only', async () => {
  await using api = await setupApi()
  expect(api.catalogue.current(acme, 'term')).toBeUndefined()

  await api.apply(file)

  expect(api.catalogue.current(acme, 'term')).toMatchObject({ lifecycle_state: 'production', release: { product_id } })
  expect(api.catalogue.current(other, 'term')).toBeUndefined()
})

test('a former release is read from the history of its product, however long', async () => {
  await using api = await setupApi()
  const publish = async (name: string) => {
    await api.apply(named(name))
    const release = api.catalogue.current(acme, 'term')?.release
    if (release?.name !== name) throw new Error(`${name} should be on show.`)
    return release.id
  }
  const first = await publish('One')
  const inBetween = Array.from({ length: 250 }, () => became('production'))
  await api.eventLog.append(`product-${product_id}`, 'any', recorded(productEvents, `product-${product_id}`, inBetween))
  await publish('Two')
  const third = await publish('Three')

  expect(await api.catalogue.release(acme, product_id, first)).toMatchObject({ number: 1, name: 'One' })
  expect(await api.catalogue.release(acme, product_id, third)).toMatchObject({ number: 3, name: 'Three' })
  expect(await api.catalogue.release(other, product_id, first)).toBeUndefined()
  expect(await api.catalogue.release(other, product_id, third)).toBeUndefined()
  expect(await api.catalogue.release(acme, product_id, ReleaseId.parse(product_id))).toBeUndefined()
})

test('the tables that a release prices with are found by its versions', async () => {
  await using api = await setupApi()
  const second = file
    .replace('      - key: life.level\n        version: 1', '      - key: life.level\n        version: 2')
    .replace('23360', '11111')
  await api.apply(file)
  await api.apply(second)

  const release = api.catalogue.current(acme, 'term')?.release
  if (!release) throw new Error('There should be a release.')

  expect((await api.catalogue.rateTablesOf(release)).get('life.level')?.cells).toMatchObject({ '30|10|n': 23360 })
  expect((await api.catalogue.rateTable(acme, 'life.level', 2))?.cells).toMatchObject({ '30|10|n': 11111 })
  expect(await api.catalogue.rateTable(other, 'life.level', 1)).toBeUndefined()
})

test('a process that starts later knows the same', async () => {
  await using api = await setupApi()
  await api.apply(file)

  const later = await followCatalogue(api.eventLog, makeLiveFolds(api.live))

  expect(later.current(acme, 'term')).toEqual(api.catalogue.current(acme, 'term'))
  expect(later.slugs(acme)).toEqual(['term'])
})

test('a rate table is read when a price first needs it, once for all who ask at the same time', async () => {
  await using api = await setupApi()
  await api.apply(file)
  const release = api.catalogue.current(acme, 'term')?.release
  if (!release) throw new Error('There should be a release.')
  const reads: string[] = []
  const eventLog = {
    ...api.eventLog,
    read: async (...given: Parameters<typeof api.eventLog.read>) => {
      reads.push(given[0])
      return api.eventLog.read(...given)
    },
  }
  const catalogue = await followCatalogue(eventLog, makeLiveFolds(api.live))
  const before = [...reads]

  await Promise.all([catalogue.rateTablesOf(release), catalogue.rateTablesOf(release)])
  await catalogue.rateTablesOf(release)

  expect(before).toEqual([])
  expect(reads).toHaveLength(Object.keys(release.rate_tables).length)
})
