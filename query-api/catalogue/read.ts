import type { Release, LifecycleState } from '#domain/catalogue/events.ts'
import {
  Journey,
  journeyRecords,
  presentationRecord,
  Product,
  productRecord,
  questionRecords,
  type Presentation,
  type Question,
} from '#domain/catalogue/record.ts'
import type { ApplicationId, OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { cacheOfBytes } from '#infra/size.ts'
import { findDocument } from '../find-document.ts'

const viewBytes = 32 * 2 ** 20

/** A release as it is shown, apart from the product's state, which can change while the release stays. */
export type ReleaseView = {
  readonly product: Omit<Product, 'lifecycle_state'>
  readonly journeys: readonly JourneyView[]
}

type JourneyView = {
  readonly journey: Journey
  readonly questions: Question[]
  readonly presentations: readonly Presentation[]
}

/** A row of the table of products. */
export type ProductRow = {
  readonly release_id: string | null
  readonly lifecycle_state: LifecycleState
  readonly document: Product
}

/** In name order, ignoring case; products of one name by their slugs. */
const byName = (one: Product, other: Product) =>
  inEnglish.compare(one.name, other.name) || inEnglish.compare(one.slug, other.slug)

const inEnglish = new Intl.Collator('en', { sensitivity: 'accent' })

export const catalogueReader = (db: Database) => {
  // A release never changes, so one that was read stays right.
  const views = cacheOfBytes<ReleaseView>(viewBytes)

  return {
    products: async (organisation_id: OrganisationId): Promise<Product[]> => {
      const { rows } = await db.query<Pick<ProductRow, 'document'>>(sql`
        select document from products where organisation_id = ${organisation_id}`)
      return rows.map(({ document }) => Product.parse(document)).toSorted(byName)
    },

    product: async (organisation_id: OrganisationId, slug: string): Promise<ProductRow | undefined> => {
      const { rows } = await db.query<ProductRow>(sql`
        select release_id, lifecycle_state, document from products
        where organisation_id = ${organisation_id} and slug = ${slug}`)
      return rows[0]
    },

    release: async (organisation_id: OrganisationId, id: string): Promise<ReleaseView | undefined> => {
      const key = `${organisation_id} ${id}`
      const known = views.get(key)
      if (known) return known
      const release = await findDocument<Release>(db, 'releases', organisation_id, id)
      const view = release && viewOf(release)
      if (view) views.set(key, view)
      return view
    },

    application: async (organisation_id: OrganisationId, id: ApplicationId) => {
      const { rows } = await db.query<{ journey_id: string; release_id: string }>(sql`
        select journey_id, release_id from applications
        where organisation_id = ${organisation_id} and id = ${id}`)
      return rows[0]
    },
  }
}

const viewOf = (release: Release): ReleaseView => ({
  product: productRecord(release, 'draft'),
  journeys: release.journeys.map((journey) => ({
    journey: Journey.parse(journey),
    questions: questionRecords(journey.questions),
    presentations: journey.presentations.map((each) => presentationRecord(each, { release, journey })),
  })),
})

/** In dashboard order. */
export const journeysOf = ({ journeys }: ReleaseView): Journey[] =>
  journeyRecords(journeys.map(({ journey }) => journey))
