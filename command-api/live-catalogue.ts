import { LRUCache } from 'lru-cache'
import { productEvents, type ProductEvent, type Release, type LifecycleState } from '#domain/catalogue/events.ts'
import { fromStored, idOf, type RecordedEvent } from '#domain/event.ts'
import type { OrganisationId, ProductId, ReleaseId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import { rateTableEvents, type RateTableEvent, type RateTable } from '#domain/rating/events.ts'

type LiveProduct = {
  readonly organisation_id: OrganisationId
  readonly slug: string
  readonly lifecycle_state: LifecycleState
  /** Undefined while none was published. */
  readonly release: Release | undefined
}

/** What is on show now, as this process knows it, and what was on show before. */
export type Catalogue = {
  /** A published product of the organisation, whatever its state. */
  readonly current: (organisation_id: OrganisationId, slug: string) => CurrentRelease | undefined
  readonly release: (organisation_id: OrganisationId, product: ProductId, id: ReleaseId) => Promise<Release | undefined>
  readonly rateTable: (organisation_id: OrganisationId, key: string, version: number) => RateTable | undefined
  /** The tables of the versions that a release prices with, by key. */
  readonly rateTablesOf: (release: PricedRelease) => ReadonlyMap<string, RateTable>
  /** The organisation's products, drafts too. */
  readonly slugs: (organisation_id: OrganisationId) => readonly string[]
}

export type CurrentRelease = { readonly release: Release; readonly lifecycle_state: LifecycleState }

type PricedRelease = Pick<Release, 'organisation_id' | 'rate_tables'>

type Live = {
  readonly products: Map<string, LiveProduct>
  /** The ids of products by organisation and slug. */
  readonly ids: Map<string, string>
  readonly rateTables: Map<string, RateTable>
}

const keyOf = (...parts: readonly (string | number)[]) => parts.join(' ')

/** Follows the catalogue's events; resolves when it knows all there are. Several parts of a process share one. */
export const followCatalogue = async (eventLog: EventLog, folds: LiveFolds): Promise<Catalogue> => {
  const live: Live = { products: new Map(), ids: new Map(), rateTables: new Map() }
  await folds.follow(catalogueFold, live)
  const former = new LRUCache<ReleaseId, Release>({ max: 500 })

  const rateTable: Catalogue['rateTable'] = (organisation_id, key, version) =>
    live.rateTables.get(keyOf(organisation_id, key, version))

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

    rateTablesOf: ({ organisation_id, rate_tables }) =>
      new Map(
        Object.entries(rate_tables).flatMap(([key, version]) => {
          const table = rateTable(organisation_id, key, version)
          return table ? [[key, table] as const] : []
        }),
      ),

    slugs: (organisation_id) =>
      [...live.products.values()].flatMap((product) =>
        product.organisation_id === organisation_id ? [product.slug] : [],
      ),
  }
}

const catalogueFold = {
  name: 'catalogue',
  version: 1,
  categories: ['product', 'rate_table'],
  events: { ...productEvents, ...rateTableEvents },
  apply: ({ products, ids, rateTables }: Live, event: ProductEvent | RateTableEvent, { stream }: RecordedEvent) => {
    if (event.type === 'RateTablePublished') {
      const { organisation_id, table } = event
      rateTables.set(keyOf(organisation_id, table.key, table.version), table)
      return
    }
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
