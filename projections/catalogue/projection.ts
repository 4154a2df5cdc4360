import type { KeyDocument } from '#domain/checkout/events.ts'
import { productEvents, type LifecycleState, type ProductEvent, type Release } from '#domain/catalogue/events.ts'
import { productRecord, unpublishedProductRecord, type Product } from '#domain/catalogue/record.ts'
import { idOf } from '#domain/event.ts'
import { documentProjection, happenedAt } from '../document-projection.ts'
import type { Projection } from '../projection.ts'

type ProductRow = {
  readonly organisation_id: string
  readonly id: string
  readonly slug: string
  readonly lifecycle_state: LifecycleState
  /** The release on show; null while none was published. */
  readonly release_id: string | null
  readonly document: Product
}

/** Every product as its current release shows it; one that was never published as its draft names it. */
export const products: Projection<typeof productEvents, ProductRow, 'organisation_id' | 'id'> = {
  name: 'products',
  version: 1,
  categories: ['product'],
  events: productEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      slug: 'text',
      lifecycle_state: 'text',
      release_id: 'uuid',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, slug'],
  },

  keys: (event, { stream }) => {
    switch (event.type) {
      case 'ProductDrafted':
        return [{ organisation_id: event.draft.organisation_id, id: event.draft.product_id }]
      case 'ReleasePublished':
        return [{ organisation_id: event.release.organisation_id, id: event.release.product_id }]
      case 'ProductLifecycleChanged':
        return [{ organisation_id: event.organisation_id, id: idOf(stream) }]
    }
  },

  project: (row, event, _recorded, key) => {
    const lifecycle_state = row?.lifecycle_state ?? 'draft'
    switch (event.type) {
      case 'ProductDrafted': {
        if (row && row.release_id !== null) return row
        const document = unpublishedProductRecord(event.draft, lifecycle_state)
        return { ...key, slug: event.draft.slug, lifecycle_state, release_id: null, document }
      }
      case 'ReleasePublished': {
        const { release } = event
        const document = productRecord(release, lifecycle_state)
        return { ...key, slug: release.slug, lifecycle_state, release_id: release.id, document }
      }
      case 'ProductLifecycleChanged': {
        const { lifecycle_state: next } = event
        return row && { ...row, lifecycle_state: next, document: { ...row.document, lifecycle_state: next } }
      }
    }
  },
}

const released = (before: Release | undefined, event: ProductEvent): Release | undefined =>
  event.type === 'ReleasePublished' ? event.release : before

/** Every release that was ever published, whole: an application keeps the one that it started with. */
export const releases = documentProjection({
  name: 'releases',
  version: 5,
  categories: ['product'],
  events: productEvents,
  keys: (event) =>
    event.type === 'ReleasePublished' ? [{ organisation_id: event.release.organisation_id, id: event.release.id }] : [],
  evolve: released,
  columns: {
    product_id: 'uuid',
    published_at: happenedAt,
    document: 'json',
  },
  indexes: ['organisation_id, published_at, id', 'organisation_id, product_id, published_at, id'],
})

type KeyDocumentRow = {
  readonly organisation_id: string
  readonly version_id: string
  readonly document_id: string
  readonly product_id: string
  /** The latest release that gives it. */
  readonly release_id: string
  readonly document: KeyDocument
  /** When its first release was published. */
  readonly published_at: string
}

/** Every version of every document about a product that customers were ever given. */
export const keyDocuments: Projection<typeof productEvents, KeyDocumentRow, 'organisation_id' | 'version_id'> = {
  name: 'key_documents',
  version: 1,
  categories: ['product'],
  events: productEvents,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      version_id: 'uuid',
      document_id: 'uuid',
      product_id: 'uuid',
      release_id: 'uuid',
      document: 'json',
      published_at: 'timestamptz',
    },
    key: ['organisation_id', 'version_id'],
    indexes: ['version_id', 'organisation_id, published_at, version_id'],
  },

  keys: (event) =>
    event.type === 'ReleasePublished'
      ? event.release.checkout.key_documents.map(({ version_id }) => ({
          organisation_id: event.release.organisation_id,
          version_id,
        }))
      : [],

  project: (row, event, { metadata }, key) => {
    if (event.type !== 'ReleasePublished') return row
    const { id: release_id, product_id, checkout } = event.release
    const document = checkout.key_documents.find(({ version_id }) => version_id === key.version_id)
    if (!document) return row
    const { document_id } = document
    const published_at = row?.published_at ?? metadata.occurred_at
    return { ...key, document_id, product_id, release_id, document, published_at }
  },
}
