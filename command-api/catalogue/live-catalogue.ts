import { LRUCache } from 'lru-cache'
import { productEvents, type ProductEvent, type Release, type LifecycleState } from '#domain/catalogue/events.ts'
import { fromStored, idOf, type RecordedEvent } from '#domain/event.ts'
import type { OrganisationId, ProductId, ReleaseId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { approximateBytes, cacheOfBytes } from '#infra/size.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import { rateTableEvents, type RateTable } from '#domain/rating/events.ts'
import { rateTableIdOf } from './ids.ts'

type LiveProduct = {
  readonly organisation_id: OrganisationId
  readonly slug: string
  readonly lifecycle_state: LifecycleState
  /** Undefined while none was published. */
  readonly release: Release | undefined
}

/** The products on show now, as this process has them, and those that were on show before. */
export type Catalogue = {
  /** A published product of the organisation, in any state. */
  readonly current: (organisation_id: OrganisationId, slug: string) => CurrentRelease | undefined
  readonly release: (organisation_id: OrganisationId, product: ProductId, id: ReleaseId) => Promise<Release | undefined>
  readonly rateTable: (organisation_id: OrganisationId, key: string, version: number) => Promise<RateTable | undefined>
  /** The tables of the versions that a release prices with, by key. */
  readonly rateTablesOf: (release: PricedRelease) => Promise<ReadonlyMap<string, RateTable>>
  /** The organisation's products, drafts too. */
  readonly slugs: (organisation_id: OrganisationId) => readonly string[]
}

export type CurrentRelease = { readonly release: Release; readonly lifecycle_state: LifecycleState }

type PricedRelease = Pick<Release, 'organisation_id' | 'rate_tables'>

type Live = {
  readonly products: Map<string, LiveProduct>
  /** The ids of products by organisation and slug. */
  readonly ids: Map<string, string>
}

// Rate tables, and releases that are no longer on show, each.
const cacheBytes = 64 * 2 ** 20

const keyOf = (...parts: readonly (string | number)[]) => parts.join(' ')

/** Follows the catalogue's events; resolves when it knows all there are. Several parts of a process share one. */
export const followCatalogue = async (eventLog: EventLog, folds: LiveFolds): Promise<Catalogue> => {
  const live: Live = { products: new Map(), ids: new Map() }
  await folds.follow(catalogueFold, live)
  const former = cacheOfBytes<Release>(cacheBytes)
  const rateTables = new LRUCache<string, RateTable, Published>({
    maxSize: cacheBytes,
    sizeCalculation: (table) => approximateBytes(table),
    // Those who ask at the same time share one read.
    fetchMethod: async (_key, _stale, { context }) => readRateTable(eventLog, context),
  })

  const rateTable: Catalogue['rateTable'] = async (organisation_id, key, version) => {
    const name = keyOf(organisation_id, version, key)
    return rateTables.get(name) ?? rateTables.fetch(name, { context: { organisation_id, key, version } })
  }

  return {
    current: (organisation_id, slug) => {
      const product = live.products.get(live.ids.get(keyOf(organisation_id, slug)) ?? '')
      return product?.release && { release: product.release, lifecycle_state: product.lifecycle_state }
    },

    release: async (organisation_id, product_id, id) => {
      const current = live.products.get(product_id)?.release
      const known = current?.id === id ? current : former.get(id)
      const release = known ?? (await readRelease(eventLog, product_id, id))
      if (release && release !== current) former.set(id, release)
      return release?.organisation_id === organisation_id ? release : undefined
    },

    rateTable,

    rateTablesOf: async ({ organisation_id, rate_tables }) => {
      const found = await Promise.all(
        Object.entries(rate_tables).map(async ([key, version]) => {
          const table = await rateTable(organisation_id, key, version)
          return table ? [[key, table] as const] : []
        }),
      )
      return new Map(found.flat())
    },

    slugs: (organisation_id) =>
      [...live.products.values()].flatMap((product) =>
        product.organisation_id === organisation_id ? [product.slug] : [],
      ),
  }
}

const catalogueFold = {
  name: 'catalogue',
  version: 2,
  categories: ['product'],
  events: productEvents,
  apply: ({ products, ids }: Live, event: ProductEvent, { stream }: RecordedEvent) => {
    const id = idOf(stream)
    const product = liveProduct(products.get(id), event)
    if (!product) return
    products.set(id, product)
    ids.set(keyOf(product.organisation_id, product.slug), id)
  },
}

const liveProduct = (product: LiveProduct | undefined, event: ProductEvent): LiveProduct | undefined => {
  switch (event.type) {
    case 'ProductDrafted': {
      const { organisation_id, slug } = event.draft
      return product ?? { organisation_id, slug, lifecycle_state: 'draft', release: undefined }
    }
    case 'ReleasePublished':
      return product && { ...product, release: event.release }
    case 'ProductLifecycleChanged':
      return product && { ...product, lifecycle_state: event.lifecycle_state }
  }
}

type Published = { readonly organisation_id: OrganisationId; readonly key: string; readonly version: number }

/** Nothing of a published version ever changes. */
const readRateTable = async (
  eventLog: EventLog,
  { organisation_id, key, version }: Published,
): Promise<RateTable | undefined> => {
  const stream = `rate_table-${rateTableIdOf(organisation_id, key, version)}`
  const [published] = await eventLog.read(stream, { limit: 1 })
  return published && fromStored(rateTableEvents, published).table
}

const pageSize = 100

/** A release that is no longer on show, from the product's own history; the latest are the likeliest. */
const readRelease = async (eventLog: EventLog, product_id: ProductId, id: ReleaseId): Promise<Release | undefined> => {
  let from: number | undefined
  for (;;) {
    const page = await eventLog.read(`product-${product_id}`, {
      direction: 'backwards',
      limit: pageSize,
      ...(from !== undefined && { from }),
    })
    for (const recorded of page) {
      const event = fromStored(productEvents, recorded)
      if (event.type === 'ReleasePublished' && event.release.id === id) return event.release
    }
    const earliest = page.at(-1)?.revision ?? 0
    if (page.length < pageSize || earliest === 0) return undefined
    from = earliest - 1
  }
}
